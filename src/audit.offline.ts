import { AuditRepository } from './audit.repository.js';
import { AuditLog } from './audit.service.js';
import type { Database } from './database.js';
import type { OwnSecrets } from './own-secrets.js';

/** The audit log for a command that runs no server. */
export function offlineAuditLog({ database, ownSecrets }: { database: Database; ownSecrets: OwnSecrets }): AuditLog {
  return new AuditLog(new AuditRepository(database), ownSecrets);
}
