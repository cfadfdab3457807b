import { Injectable } from '@nestjs/common';
import { type Selectable, sql } from 'kysely';
import type { ChainedEntry } from './audit.entry.js';
import type { AuditHead } from './audit.verification.js';
import { Database, type DatabaseTransaction } from './database.js';
import type { AuditLogTable, AuditOutcome } from './database.schema.js';

export interface AuditFilter {
  actorId?: string | undefined;
  action?: string | undefined;
  targetKind?: string | undefined;
  targetId?: string | undefined;
  outcome?: AuditOutcome | undefined;
  requestId?: string | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
}

/** Rows of one insert; each takes twelve of the 65,535 parameters that a statement may have. */
const INSERTED_AT_ONCE = 1_000;

/** The audit log: read in either order, added to at its end, never changed. */
@Injectable()
export class AuditRepository {
  constructor(private readonly database: Database) {}

  /** Keeps others from adding until the transaction ends; answers the newest row, undefined of an empty log. */
  async lockHead(transaction: DatabaseTransaction): Promise<AuditHead | undefined> {
    const { rows } = await sql<{ sequence: string; hash: Buffer }>`select * from lock_audit_log()`.execute(transaction);
    const [newest] = rows;
    return newest && { sequence: Number(newest.sequence), hash: newest.hash };
  }

  async append(transaction: DatabaseTransaction, entries: readonly ChainedEntry[]): Promise<void> {
    for (let start = 0; start < entries.length; start += INSERTED_AT_ONCE) {
      await transaction
        .insertInto('audit_log')
        .values(
          entries.slice(start, start + INSERTED_AT_ONCE).map((entry) => ({
            sequence: entry.sequence,
            at: entry.at,
            actor: JSON.stringify(entry.actor),
            action: entry.action,
            target_kind: entry.target.kind,
            target_id: entry.target.id,
            outcome: entry.outcome,
            request_id: entry.requestId,
            before: jsonOrNull(entry.before),
            after: jsonOrNull(entry.after),
            previous_hash: entry.previousHash,
            hash: entry.hash,
          })),
        )
        .execute();
    }
  }

  /** Newest first; only rows before `beforeSequence`, when given. */
  async list(filter: AuditFilter, limit: number, beforeSequence: number | undefined): Promise<ChainedEntry[]> {
    let query = this.database.kysely.selectFrom('audit_log').selectAll();
    if (filter.actorId !== undefined) query = query.where(sql<boolean>`actor ->> 'id' = ${filter.actorId}`);
    if (filter.action !== undefined) query = query.where('action', '=', filter.action);
    if (filter.targetKind !== undefined) query = query.where('target_kind', '=', filter.targetKind);
    if (filter.targetId !== undefined) query = query.where('target_id', '=', filter.targetId);
    if (filter.outcome !== undefined) query = query.where('outcome', '=', filter.outcome);
    if (filter.requestId !== undefined) query = query.where('request_id', '=', filter.requestId);
    if (filter.from !== undefined) query = query.where('at', '>=', filter.from);
    if (filter.to !== undefined) query = query.where('at', '<', filter.to);
    if (beforeSequence !== undefined) query = query.where(sql<boolean>`sequence < ${beforeSequence}::numeric`);
    const rows = await query.orderBy('sequence', 'desc').limit(limit).execute();
    return rows.map(toEntry);
  }

  /** Oldest first, from behind a row on. */
  async following(sequence: number, limit: number): Promise<ChainedEntry[]> {
    const rows = await this.database.kysely
      .selectFrom('audit_log')
      .selectAll()
      .where(sql<boolean>`sequence > ${sequence}::bigint`)
      .orderBy('sequence')
      .limit(limit)
      .execute();
    return rows.map(toEntry);
  }
}

function toEntry(row: Selectable<AuditLogTable>): ChainedEntry {
  return {
    sequence: Number(row.sequence),
    at: row.at,
    actor: row.actor,
    action: row.action,
    target: { kind: row.target_kind, id: row.target_id },
    outcome: row.outcome,
    requestId: row.request_id,
    before: row.before,
    after: row.after,
    previousHash: row.previous_hash,
    hash: row.hash,
  };
}

/** SQL null for what is not there, so that it reads as it was written. */
function jsonOrNull(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value);
}
