import { Kysely, PostgresDialect, sql, type Transaction } from 'kysely';
import type pg from 'pg';
import type { DatabaseSchema } from './database.schema.js';
import { ProblemError } from './errors.js';
import { errorText, systemErrorCode } from './system-error.js';

export type DatabaseTransaction = Transaction<DatabaseSchema>;

/** What a change takes permission from; each list holds ids. */
export interface RevocationSubjects {
  connections?: string[];
  agents?: string[];
  credentials?: string[];
}

/** Longest a revoking change waits for admissions in progress, milliseconds. */
const REVOCATION_WAIT_MS = 5_000;
/** Longest any one lock is waited for, milliseconds; a change behind a revocation sees the end of that. */
const LOCK_WAIT_MS = 10_000;

/** NOTIFY channel that tells every replica that permissions or launch settings changed. Only ever a hint. */
export const CHANGED_CHANNEL = 'warren_changed';
/** What it carries when a cancellation waits for whoever runs the call; empty for all other changes. */
export const CANCELLATION_NOTICE = 'cancellation';

const STATEMENT_TIMEOUT = '57014';
const LOCK_NOT_AVAILABLE = '55P03';

/** PostgreSQL, as every repository sees it. */
export class Database {
  readonly kysely: Kysely<DatabaseSchema>;

  /** `namedStatements` false: behind a transaction pooler, where a prepared statement may meet another backend. */
  constructor(
    readonly pool: pg.Pool,
    readonly namedStatements = true,
    private readonly lockWaitMs = LOCK_WAIT_MS,
  ) {
    this.kysely = new Kysely<DatabaseSchema>({ dialect: new PostgresDialect({ pool }) });
  }

  /**
   * Runs `work` in one transaction; an error rolls it back.
   * Errors: `busy` (503, nothing changed) when something it needs stays locked by others for 10 s.
   */
  async transaction<T>(work: (transaction: DatabaseTransaction) => Promise<T>): Promise<T> {
    try {
      return await this.kysely.transaction().execute(async (transaction) => {
        await sql`select set_config('lock_timeout', ${String(this.lockWaitMs)}, true)`.execute(transaction);
        return work(transaction);
      });
    } catch (error) {
      if (systemErrorCode(error) !== LOCK_NOT_AVAILABLE) throw error;
      throw new ProblemError('busy', 'Another transaction on the database held what this needs; nothing changed.', {
        retryAfterSeconds: 1,
        cause: error,
      });
    }
  }

  /**
   * Runs a change that takes permission away. The exclusive locks are taken first, so once this resolves no call that
   * lost its permission begins to be written by any replica.
   * Errors: `revocation_timeout` (503, nothing changed) when admissions in progress do not end within 5 s.
   */
  revocation<T>(subjects: RevocationSubjects, work: (transaction: DatabaseTransaction) => Promise<T>): Promise<T> {
    const { connections = [], agents = [], credentials = [] } = subjects;
    return this.transaction(async (transaction) => {
      try {
        await sql`select set_config('statement_timeout', ${String(REVOCATION_WAIT_MS)}, true)`.execute(transaction);
        await sql`select lock_revocation(${connections}::text[], ${agents}::text[], ${credentials}::text[])`.execute(
          transaction,
        );
      } catch (error) {
        if (!isStatementTimeout(error)) throw error;
        throw new ProblemError('revocation_timeout', 'Calls being admitted did not end within 5 s; nothing changed.', {
          retryAfterSeconds: 1,
          cause: error,
        });
      }
      await sql`select set_config('statement_timeout', '0', true)`.execute(transaction);
      const result = await work(transaction);
      await sql`select pg_notify(${CHANGED_CHANNEL}, '')`.execute(transaction);
      return result;
    });
  }

  /** True when PostgreSQL answers. */
  async ping(): Promise<boolean> {
    try {
      await sql`select 1`.execute(this.kysely);
      return true;
    } catch {
      return false;
    }
  }

  close(): Promise<void> {
    return this.kysely.destroy();
  }
}

function isStatementTimeout(error: unknown): boolean {
  return systemErrorCode(error) === STATEMENT_TIMEOUT;
}

const UNAVAILABLE_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'EPIPE',
  'ETIMEDOUT',
  '57P01',
  '57P02',
  '57P03',
  '53300',
  '08000',
  '08001',
  '08003',
  '08006',
]);

/** True when an error means that PostgreSQL is away, not that a statement was wrong. */
export function isDatabaseUnavailable(error: unknown): boolean {
  const code = systemErrorCode(error);
  if (code !== undefined && UNAVAILABLE_CODES.has(code)) return true;
  return /connection terminated|timeout exceeded when trying to connect|client has encountered a connection error/i.test(
    errorText(error),
  );
}

/** The constraint a unique violation broke, or undefined for any other error. */
export function brokenUniqueConstraint(error: unknown): string | undefined {
  if (systemErrorCode(error) !== '23505') return undefined;
  const { constraint } = error as { constraint?: unknown };
  return typeof constraint === 'string' ? constraint : undefined;
}
