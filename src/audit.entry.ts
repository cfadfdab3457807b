import { createHash } from 'node:crypto';
import { canonicalJson } from './canonical-json.js';
import type { AuditActor, AuditOutcome } from './database.schema.js';

/** What an operator can do to Warren; `access.refuse` is any of it, tried without the scope for it. */
export const auditActions = [
  'access.refuse',
  'agent.create',
  'agent.delete',
  'agent.update',
  'connection.create',
  'connection.delete',
  'connection.discover',
  'connection.start',
  'connection.stop',
  'connection.update',
  'grants.change',
  'key.create',
  'key.revoke',
  'secrets.rotate',
  'token.create',
  'token.revoke',
] as const;
export type AuditAction = (typeof auditActions)[number];

export const auditTargetKinds = ['agent', 'connection', 'key', 'keyring', 'route', 'token'] as const;
export type AuditTargetKind = (typeof auditTargetKinds)[number];

/** A change as its owner tells it. `before` and `after` hold what changed, as JSON and without secrets. */
export interface AuditedChange {
  action: AuditAction;
  target: { kind: AuditTargetKind; id: string };
  /** Default `done`: the change is in the same transaction. */
  outcome?: AuditOutcome;
  before?: unknown;
  after?: unknown;
}

/** A row of the audit log, apart from its hash. */
export interface AuditEntry {
  /** 1, 2, 3 … without gaps. */
  sequence: number;
  at: Date;
  actor: AuditActor;
  action: string;
  target: { kind: string; id: string };
  outcome: AuditOutcome;
  requestId: string | null;
  before: unknown;
  after: unknown;
}

/** A row with its place in the chain; both hashes are 32 bytes. */
export interface ChainedEntry extends AuditEntry {
  previousHash: Buffer;
  hash: Buffer;
}

/** What the first row follows. */
export const GENESIS_HASH = Buffer.alloc(32);

/** SHA-256 of the previous row's hash followed by the RFC 8785 form of the row, as it is answered, in UTF-8. */
export function auditHash(previousHash: Buffer, { at, ...entry }: AuditEntry): Buffer {
  const form = canonicalJson({
    sequence: entry.sequence,
    at: at.toISOString(),
    actor: entry.actor,
    action: entry.action,
    target: entry.target,
    outcome: entry.outcome,
    requestId: entry.requestId,
    before: entry.before,
    after: entry.after,
  });
  return createHash('sha256').update(previousHash).update(form, 'utf8').digest();
}
