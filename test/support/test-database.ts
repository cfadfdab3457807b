import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { migrations } from '../../migrations/index.js';
import { createPool } from '../../src/database-pool.js';
import { migrateToLatest } from '../../src/migrator.js';
import { recordDatabase } from '../canary/recording.js';

/** A database of one test file's own. */
export interface TestDatabase {
  readonly connectionString: string;
  /** A new pool that `drop` ends; the name shows in the error about a leak. */
  pool(applicationName?: string): pg.Pool;
  /** Ends the pools and removes the database. Errors: when a connection to it is still in use. */
  drop(): Promise<void>;
}

/** Held while the template is made; any number that nothing else here uses. */
const TEMPLATE_LOCK = 411_836;

/** A closed connection's backend needs a moment to leave `pg_stat_activity`. */
const BACKEND_EXIT_MS = 2_000;

/** A database with Warren's schema, copied from a template that the first caller of the run migrates. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const template = environment('TEST_DATABASE_TEMPLATE');
  await withAdmin((admin) => ensureTemplate(admin, template));
  return createDatabase(template);
}

/** A database with nothing in it. */
export function createEmptyDatabase(): Promise<TestDatabase> {
  return createDatabase('template0');
}

async function createDatabase(template: string): Promise<TestDatabase> {
  const name = `warren_test_${randomBytes(8).toString('hex')}`;
  await withAdmin((admin) => admin.query(`create database ${name} template ${template}`));
  const connectionString = databaseUrl(name);
  const pools: { pool: pg.Pool; applicationName: string }[] = [];
  return {
    connectionString,
    pool: (applicationName = 'test') => {
      const pool = createPool({ connectionString, max: 10, applicationName });
      pools.push({ pool, applicationName });
      return pool;
    },
    drop: async () => {
      await recordDatabase(connectionString);
      const leaks: string[] = [];
      for (const { pool, applicationName } of pools) {
        const inUse = pool.totalCount - pool.idleCount;
        // Ending a pool waits for its clients in use, so one with a leak is not waited for.
        const ended = pool.ended || pool.ending ? Promise.resolve() : pool.end();
        if (inUse === 0) await ended;
        else leaks.push(`${inUse} client(s) of pool "${applicationName}" not released`);
      }
      await withAdmin(async (admin) => {
        if (leaks.length === 0) leaks.push(...(await remainingConnections(admin, name)));
        await admin.query(`drop database ${name} with (force)`);
      });
      if (leaks.length > 0) throw new Error(`Leaked database connections: ${leaks.join('; ')}`);
    },
  };
}

async function ensureTemplate(admin: pg.Client, template: string): Promise<void> {
  await admin.query('select pg_advisory_lock($1)', [TEMPLATE_LOCK]);
  const found = await admin.query<{ datallowconn: boolean }>(
    'select datallowconn from pg_database where datname = $1',
    [template],
  );
  // Closed to connections is the mark of a finished template, and what lets it be copied at any moment.
  if (found.rows[0]?.datallowconn === false) return;
  await admin.query(`drop database if exists ${template} with (force)`);
  await admin.query(`create database ${template} template template0`);
  const pool = createPool({ connectionString: databaseUrl(template), max: 1, applicationName: 'template' });
  try {
    await migrateToLatest(pool, migrations);
  } finally {
    await pool.end();
  }
  await admin.query(`alter database ${template} with allow_connections false`);
}

async function remainingConnections(admin: pg.Client, database: string): Promise<string[]> {
  const deadline = performance.now() + BACKEND_EXIT_MS;
  for (;;) {
    const { rows } = await admin.query<{ application_name: string; state: string; query: string }>(
      `select application_name, state, query from pg_stat_activity where datname = $1 and backend_type = 'client backend'`,
      [database],
    );
    if (rows.length === 0) return [];
    if (performance.now() > deadline) {
      return rows.map((row) => `connection of "${row.application_name}" (${row.state}; last query: ${row.query})`);
    }
    await delay(20);
  }
}

/** Runs `work` on a connection of its own to the server; session locks taken there end with it. */
async function withAdmin<T>(work: (admin: pg.Client) => Promise<T>): Promise<T> {
  const admin = new pg.Client({ connectionString: environment('WARREN_TEST_DATABASE_URL') });
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.end();
  }
}

function databaseUrl(database: string): string {
  const url = new URL(environment('WARREN_TEST_DATABASE_URL'));
  url.pathname = `/${database}`;
  return url.href;
}

function environment(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === '') {
    throw new Error(`${name} is not set: the tests' database is started by test/support/global-setup.mjs.`);
  }
  return value;
}
