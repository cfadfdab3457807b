import pg from 'pg';

export interface PoolOptions {
  /** A PostgreSQL URL; a unix socket is `postgresql://user@%2Fdirectory/database`. */
  readonly connectionString?: string | undefined;
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly user?: string | undefined;
  readonly password?: string | undefined;
  readonly database?: string | undefined;
  /** Most connections open at once. */
  readonly max: number;
  /** Shown in `pg_stat_activity`. */
  readonly applicationName: string;
  /** Told of every connection that PostgreSQL or the network dropped; the pool replaces it by itself. */
  readonly onConnectionError?: ((error: Error) => void) | undefined;
}

const CONNECTION_TIMEOUT_MS = 5_000;
const IDLE_TIMEOUT_MS = 30_000;

/** A silent connection is probed after this long, so that one whose peer vanished is noticed at all. */
const KEEP_ALIVE_DELAY_MS = 10_000;

/**
 * A pool of connections that outlives them: a dropped backend costs the query that ran on it, never the process.
 * `bigint` columns arrive as numbers, or as text beyond 2^53; `timestamptz` as Date; `numeric` as text.
 */
export function createPool(options: PoolOptions): pg.Pool {
  const { applicationName, onConnectionError, connectionString, ...connection } = options;
  const pool = new pg.Pool({
    // A connection string wins over single fields in pg, and an undefined one would still be looked at.
    ...(connectionString === undefined ? connection : { connectionString, max: options.max }),
    application_name: applicationName,
    connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY_MS,
    types: { getTypeParser },
  });
  // Without listeners an 'error' event ends the process. Idle connections report through the pool, and through their
  // own event first; those in use only through their own.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', (error) => onConnectionError?.(error)));
  return pool;
}

/** A bigint's text as a number where a number holds it exactly. */
export function parseBigint(text: string): number | string {
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : text;
}

type TypeId = Parameters<typeof pg.types.getTypeParser>[0];

function getTypeParser(oid: TypeId, format?: 'text' | 'binary'): (value: string) => unknown {
  if (oid === pg.types.builtins.INT8 && format !== 'binary') return parseBigint;
  return pg.types.getTypeParser(oid, format) as (value: string) => unknown;
}
