import { Changes } from './changes.js';
import { CredentialsRepository } from './credentials.repository.js';
import { CredentialsService } from './credentials.service.js';
import type { Database } from './database.js';
import type { ServerSecrets } from './server-secrets.service.js';

/** The credentials service for a command that runs no server. */
export function offlineCredentials({
  database,
  serverSecrets,
}: {
  database: Database;
  serverSecrets: ServerSecrets;
}): CredentialsService {
  return new CredentialsService(new CredentialsRepository(database), serverSecrets, database, new Changes());
}
