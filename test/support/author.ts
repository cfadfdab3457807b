import { offlineAuditLog } from '../../src/audit.offline.js';
import type { AuditLog } from '../../src/audit.service.js';
import type { Author } from '../../src/author.js';
import type { Database } from '../../src/database.js';
import { OwnSecrets } from '../../src/own-secrets.js';
import type { OperatorScope } from '../../src/principal.js';

/** An operator whose key holds these scopes. */
export const operator = (...scopes: OperatorScope[]): Author => ({
  kind: 'operator',
  credentialId: 'k',
  name: null,
  scopes,
  requestId: 'r',
});

export const admin = operator('admin');

/** The audit log of a database, for services composed by hand. */
export function auditLog(database: Database, ownSecrets: OwnSecrets = new OwnSecrets([])): AuditLog {
  return offlineAuditLog({ database, ownSecrets });
}
