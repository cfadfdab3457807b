import type pg from 'pg';
import { errorText, systemErrorCode } from './system-error.js';

/** One step of the schema's history. */
export interface Migration {
  /** `NNNN-what-it-does`, unique; never changes once released. */
  readonly name: string;
  /** SQL statements. They run inside the migrator's transaction, so none may need to run outside of one. */
  readonly up: string;
}

/** The database holds steps that this Warren does not know: a newer Warren has been here. */
export class SchemaNewerError extends Error {
  constructor(readonly unknownNames: readonly string[]) {
    super(
      `The database schema is newer than this Warren: it holds ${unknownNames.join(', ')}. ` +
        'Run the Warren version that made it, or a later one.',
    );
    this.name = 'SchemaNewerError';
  }
}

/** The recorded steps and the known steps are in different order. */
export class SchemaHistoryError extends Error {
  constructor(position: number, recorded: string, known: string | undefined) {
    super(
      `The database's migration history was edited: step ${position} is recorded as ${recorded}, ` +
        `and this Warren has ${known ?? 'none'} there. Restore the database or the migrations; nothing was changed.`,
    );
    this.name = 'SchemaHistoryError';
  }
}

/** A step's SQL failed; nothing of this run was kept. */
export class MigrationError extends Error {
  constructor(
    readonly migration: string,
    cause: unknown,
  ) {
    super(`Migration ${migration} failed: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.name = 'MigrationError';
  }
}

/** The server is too old. */
export class DatabaseVersionError extends Error {
  constructor(version: string) {
    super(`Warren needs PostgreSQL 15 or newer, and this server is ${version}.`);
    this.name = 'DatabaseVersionError';
  }
}

/** This user may not make tables in the database. */
export class DatabaseNotWritableError extends Error {
  constructor(cause: unknown) {
    super(
      `Warren needs a database that it owns, and this user may not make its tables there: ${errorText(cause)}. ` +
        'Make its user the owner of the database (`alter database … owner to …`); nothing was changed.',
      { cause },
    );
    this.name = 'DatabaseNotWritableError';
  }
}

/** `insufficient_privilege` and `read_only_sql_transaction`. */
const NOT_WRITABLE = new Set(['42501', '25006']);

/** Key of the advisory lock that migrators queue for: "warren" on a telephone keypad. */
const LOCK_KEY = 927_736;

/** Longest wait for that lock, and for tables that a running Warren holds. */
const LOCK_TIMEOUT = '60s';

const OLDEST_SERVER = 150_000;

const BOOKKEEPING = `
create table if not exists warren_migrations (
  position integer primary key,
  name text not null unique,
  applied_at timestamptz not null default now()
)`;

/**
 * Applies the steps that the database lacks, all in one transaction: either every one is kept or none. Any number of
 * processes may call it at once; one works and the others find nothing left to do. Uses transaction-level locks only,
 * so it works behind a transaction pooler.
 * Errors: `DatabaseVersionError`, `SchemaNewerError`, `SchemaHistoryError`, `DatabaseNotWritableError`,
 * `MigrationError`, and pg's own.
 */
export async function migrateToLatest(pool: pg.Pool, migrations: readonly Migration[]): Promise<{ applied: string[] }> {
  const client = await pool.connect();
  let committed = false;
  try {
    await client.query('begin');
    const applied = await applyMissing(client, migrations);
    await client.query('commit');
    committed = true;
    return { applied };
  } catch (error) {
    const refusal = error instanceof MigrationError ? error.cause : error;
    throw NOT_WRITABLE.has(systemErrorCode(refusal) ?? '') ? new DatabaseNotWritableError(refusal) : error;
  } finally {
    // A client that failed is closed, which rolls its transaction back wherever it stood.
    client.release(!committed);
  }
}

async function applyMissing(client: pg.PoolClient, migrations: readonly Migration[]): Promise<string[]> {
  const version = await client.query<{ number: number; text: string }>(
    "select current_setting('server_version_num')::int as number, current_setting('server_version') as text",
  );
  const server = version.rows[0];
  if (server !== undefined && server.number < OLDEST_SERVER) throw new DatabaseVersionError(server.text);
  await client.query(`set local lock_timeout = '${LOCK_TIMEOUT}'`);
  // Before the bookkeeping table: "create table if not exists" alone fails when two create it at once.
  await client.query('select pg_advisory_xact_lock($1)', [LOCK_KEY]);
  await client.query(BOOKKEEPING);
  const recorded = await client.query<{ name: string }>('select name from warren_migrations order by position');
  const missing = missingSteps(
    recorded.rows.map((row) => row.name),
    migrations,
  );
  for (const { migration, position } of missing) {
    try {
      await client.query(migration.up);
    } catch (error) {
      throw new MigrationError(migration.name, error);
    }
    const values = [position, migration.name];
    await client.query('insert into warren_migrations (position, name) values ($1, $2)', values);
  }
  return missing.map(({ migration }) => migration.name);
}

/** Which steps are still to apply; throws when the recorded ones are not the beginning of the known ones. */
function missingSteps(
  recorded: readonly string[],
  migrations: readonly Migration[],
): { migration: Migration; position: number }[] {
  const known = migrations.map(({ name }) => name);
  const unknown = recorded.filter((name) => !known.includes(name));
  if (unknown.length > 0) throw new SchemaNewerError(unknown);
  for (const [index, name] of recorded.entries()) {
    if (name !== known[index]) throw new SchemaHistoryError(index + 1, name, known[index]);
  }
  return migrations.map((migration, index) => ({ migration, position: index + 1 })).slice(recorded.length);
}
