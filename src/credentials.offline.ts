import { offlineAuditLog } from './audit.offline.js';
import { Changes } from './changes.js';
import { CredentialsRepository } from './credentials.repository.js';
import { CredentialsService } from './credentials.service.js';
import type { Database } from './database.js';
import type { OwnSecrets } from './own-secrets.js';
import type { ServerSecrets } from './server-secrets.service.js';

/** The credentials service for a command that runs no server. */
export function offlineCredentials({
  database,
  serverSecrets,
  ownSecrets,
}: {
  database: Database;
  serverSecrets: ServerSecrets;
  ownSecrets: OwnSecrets;
}): CredentialsService {
  const audit = offlineAuditLog({ database, ownSecrets });
  return new CredentialsService(new CredentialsRepository(database), serverSecrets, database, new Changes(), audit);
}
