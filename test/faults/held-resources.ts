import { expect } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import type { Pool } from 'pg';
import { eventually } from '../support/eventually.js';
import { childrenOf } from '../support/processes.js';
import type { TestWarren } from '../support/warren.js';

/** What a Warren process holds while nobody calls it. */
export interface HeldResources {
  /**
   * Open descriptors, those of its connections to the database and of idle clients apart: how many of these are kept is
   * a matter of chance.
   */
  descriptors: number;
  /** Child processes, the dead that it has not noticed included. */
  children: number;
}

/** The name of the pool that counts, which is no connection of Warren's. */
export const COUNTING = 'held resources';
const SETTLING_MS = 20_000;
/** As `/proc/net/tcp` has it. */
const ESTABLISHED = '01';

/** Reads them at a moment when none of them changes. */
export async function heldBy(warren: TestWarren, pool: Pool): Promise<HeldResources> {
  const pid = warren.process.pid ?? 0;
  const port = Number(new URL(warren.url).port);
  const count = async () => ({
    open: readdirSync(`/proc/${pid}/fd`).length,
    database: await databaseConnections(pool),
    clients: clientsOf(port),
  });
  return eventually(async () => {
    const first = await count();
    expect(await count()).toEqual(first);
    return { descriptors: first.open - first.database - first.clients, children: childrenOf(pid).length };
  }, SETTLING_MS);
}

/** Of the test's database, the counting pool's own apart. */
async function databaseConnections(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    `select count(*)::integer as count from pg_stat_activity
     where datname = current_database() and backend_type = 'client backend' and application_name <> $1`,
    [COUNTING],
  );
  return rows[0]?.count ?? 0;
}

/** Open connections of clients to a port, as its server sees them. */
function clientsOf(port: number): number {
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, address, , state]) => address?.endsWith(local) === true && state === ESTABLISHED).length;
}
