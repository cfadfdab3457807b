import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { ArrivalLog } from './revocation.arrival-log.js';
import type { Api } from './support/api.js';
import { randomNumbers } from './support/random-numbers.js';
import { createTestDatabase } from './support/test-database.js';
import { startWarren, type TestWarren } from './support/warren.js';

const PROVIDER = resolve('test/providers/arrival-provider.mjs');
const STARTING_MS = 10_000;
/** The bounds that are for strangers, not for this load. */
const UNBOUNDED = { WARREN_RATE_AUTH_FAILURES: '1000000', WARREN_RATE_REQUESTS: '1000000', LOG_LEVEL: 'warn' };

/** The two connections of the bench: stdio and HTTP. */
export const CONNECTIONS = ['line', 'web'] as const;
export type ConnectionId = (typeof CONNECTIONS)[number];

/** The agent that loses permission. */
export const WORKER = 'worker';

/** Two Warren processes on one database, and the providers that write down what arrives. */
export interface RevocationBench {
  readonly warrens: readonly [TestWarren, TestWarren];
  /** As the admin, through the first Warren. */
  readonly api: Api;
  readonly pool: pg.Pool;
  readonly log: ArrivalLog;
  /** From 0 to 1, the same row of numbers for the same seed. */
  readonly random: () => number;
  /** The number of the next call: each is used once. */
  nextNumber(): number;
  createConnection(id: ConnectionId): Promise<void>;
  /** The grants of the tools `record` and `slow` on these connections. */
  grants(ids?: readonly ConnectionId[]): { connectionId: string; toolName: string }[];
  createWorker(): Promise<void>;
  /** A token of the worker that lasts as long as the worker does. */
  workerToken(): Promise<string>;
  /** A new token of the worker. */
  createToken(expiresAt?: Date): Promise<{ id: string; token: string }>;
  /** PostgreSQL's clock, moved by so many milliseconds. */
  databaseTime(plusMs?: number): Promise<Date>;
  stop(): Promise<void>;
}

interface BenchOptions {
  /** SQL to run on the database first. */
  sql?: string;
  seed?: number;
  /** For both Warrens. */
  environment?: Record<string, string>;
}

/** `stop()` it in `afterAll`. What had started is ended when the rest fails to. */
export async function startRevocationBench(options: BenchOptions = {}): Promise<RevocationBench> {
  const started: (() => Promise<unknown>)[] = [];
  const stop = async (): Promise<void> => {
    for (const end of started.toReversed()) await end();
  };
  try {
    return await start(options, started, stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

async function start(
  { sql, seed = 1, environment = {} }: BenchOptions,
  started: (() => Promise<unknown>)[],
  stop: () => Promise<void>,
): Promise<RevocationBench> {
  const directory = await mkdtemp(join(tmpdir(), 'warren-test-arrivals-'));
  started.push(() => rm(directory, { recursive: true, force: true }));
  const log = new ArrivalLog(join(directory, 'arrivals.jsonl'));
  const database = await createTestDatabase();
  started.push(() => database.drop());
  const pool = database.pool('revocation bench');
  if (sql !== undefined) await pool.query(sql);
  const web = spawn(process.execPath, [PROVIDER, 'http'], {
    env: { FAKE_LOG: log.path },
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  const ended = once(web, 'exit');
  started.push(() => {
    web.stdin.end();
    return ended;
  });
  const first = await startWarren({ database, environment: { ...UNBOUNDED, ...environment } });
  started.push(() => first.stop());
  const second = await startWarren({
    database,
    adminKey: first.adminKey,
    environment: { ...UNBOUNDED, ...environment },
  });
  started.push(() => second.stop());
  const { api } = first;
  let number = 0;
  let token: string | undefined;
  const bench: RevocationBench = {
    warrens: [first, second],
    api,
    pool,
    log,
    random: randomNumbers(seed),
    nextNumber: () => (number += 1),
    createConnection: async (id) => {
      const transport =
        id === 'line'
          ? {
              transport: 'stdio',
              command: process.execPath,
              args: [PROVIDER, 'stdio'],
              environmentVariables: [{ name: 'FAKE_LOG', value: log.path }],
            }
          : { transport: 'http', baseUrl: `http://127.0.0.1:${await webPort(log, web.pid)}/mcp` };
      const body = { id, name: id, lifecycle: 'keep_alive', maxConcurrentCalls: 64, ...transport };
      await api.expect(201, 'POST', '/api/connections?discover=true', body);
    },
    grants: (ids = CONNECTIONS) =>
      ids.flatMap((connectionId) => ['record', 'slow'].map((toolName) => ({ connectionId, toolName }))),
    createWorker: async () => {
      token = undefined;
      await api.expect(201, 'POST', '/api/agents', { id: WORKER, name: 'Worker' });
      await api.expect(200, 'PUT', `/api/agents/${WORKER}/mcp-tools`, { tools: bench.grants() });
    },
    createToken: (expiresAt) => api.expect(201, 'POST', `/api/agents/${WORKER}/tokens`, { expiresAt }),
    workerToken: async () => (token ??= (await bench.createToken()).token),
    databaseTime: async (plusMs = 0) => {
      const asked = `select clock_timestamp() + make_interval(secs => $1::double precision / 1000) as time`;
      const { rows } = await pool.query<{ time: Date }>(asked, [plusMs]);
      const time = rows[0]?.time;
      if (time === undefined) throw new Error('PostgreSQL told no time');
      return time;
    },
    stop,
  };
  for (const id of CONNECTIONS) await bench.createConnection(id);
  await bench.createWorker();
  return bench;
}

async function webPort(log: ArrivalLog, pid: number | undefined): Promise<number> {
  for (const deadline = performance.now() + STARTING_MS; performance.now() < deadline; await delay(20)) {
    await log.read();
    const port = pid === undefined ? undefined : log.portOf(pid);
    if (port !== undefined) return port;
  }
  throw new Error('the HTTP provider did not start');
}
