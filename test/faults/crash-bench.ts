import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ArrivalLog } from '../revocation.arrival-log.js';
import { createToken } from '../../src/token.js';
import type { Api } from '../support/api.js';
import { eventually } from '../support/eventually.js';
import { createTestDatabase } from '../support/test-database.js';
import { startWarren, type TestWarren } from '../support/warren.js';

const PROVIDER = resolve('test/providers/arrival-provider.mjs');
const STARTING_MS = 20_000;
/** The bounds that are for strangers, not for this load. */
const UNBOUNDED = { WARREN_RATE_AUTH_FAILURES: '1000000', WARREN_RATE_REQUESTS: '1000000', LOG_LEVEL: 'warn' };

export const AGENTS = ['first', 'second', 'third'] as const;
export type AgentId = (typeof AGENTS)[number];

/** Connections of each kind; `stubborn` ignores TERM and the end of its input. */
export const CONNECTIONS = ['line', 'web', 'stubborn', 'line-once', 'web-once'] as const;
export type ConnectionId = (typeof CONNECTIONS)[number];

/** One Warren after the other on one database, and providers that write down what arrives. */
export interface CrashBench {
  readonly log: ArrivalLog;
  /** The one that lives now. */
  readonly warren: TestWarren;
  /** As an agent, through the one that lives now. */
  agent(id: AgentId): Api;
  /** Waits for the end of the killed one, then starts the next. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** `stop()` it in `afterAll`. What had started is ended when the rest fails to. */
export async function startCrashBench(): Promise<CrashBench> {
  const started: (() => Promise<unknown>)[] = [];
  const stop = async (): Promise<void> => {
    for (const end of started.splice(0).toReversed()) await end();
  };
  try {
    return await start(started, stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

async function start(started: (() => Promise<unknown>)[], stop: () => Promise<void>): Promise<CrashBench> {
  const directory = await mkdtemp(join(tmpdir(), 'warren-test-arrivals-'));
  started.push(() => rm(directory, { recursive: true, force: true }));
  const log = new ArrivalLog(join(directory, 'arrivals.jsonl'));
  const database = await createTestDatabase();
  started.push(() => database.drop());
  const port = await startWeb(log, started);
  const adminKey = createToken('operator').token;
  const serve = (): Promise<TestWarren> => startWarren({ database, adminKey, environment: UNBOUNDED });
  let warren = await serve();
  started.push(() => warren.stop());
  for (const id of CONNECTIONS) {
    const settings = { id, name: id, maxConcurrentCalls: 64, ...endpointOf(id, log.path, port) };
    await warren.api.expect(201, 'POST', '/api/connections?discover=true', settings);
  }
  const tokens = new Map<AgentId, string>();
  for (const id of AGENTS) {
    await warren.api.expect(201, 'POST', '/api/agents', { id, name: id });
    const tools = CONNECTIONS.flatMap((connectionId) =>
      ['record', 'slow'].map((toolName) => ({ connectionId, toolName })),
    );
    await warren.api.expect(200, 'PUT', `/api/agents/${id}/mcp-tools`, { tools });
    const { token } = await warren.api.expect<{ token: string }>(201, 'POST', `/api/agents/${id}/tokens`, {});
    tokens.set(id, token);
  }
  return {
    log,
    get warren() {
      return warren;
    },
    agent: (id) => warren.api.as(tokens.get(id)),
    restart: async () => {
      await warren.stop();
      warren = await serve();
    },
    stop,
  };
}

/** The HTTP provider outlives every Warren. Resolves with its port. */
async function startWeb(log: ArrivalLog, started: (() => Promise<unknown>)[]): Promise<number> {
  const web = spawn(process.execPath, [PROVIDER, 'http'], {
    env: { FAKE_LOG: log.path },
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  const ended = once(web, 'exit');
  started.push(() => {
    web.stdin.end();
    return ended;
  });
  return eventually(async () => {
    await log.read();
    const port = web.pid === undefined ? undefined : log.portOf(web.pid);
    if (port === undefined) throw new Error('the HTTP provider has not started');
    return port;
  }, STARTING_MS);
}

function endpointOf(id: ConnectionId, log: string, port: number): Record<string, unknown> {
  const lifecycle = id.endsWith('-once') ? 'ephemeral' : 'keep_alive';
  if (id.startsWith('web')) return { transport: 'http', baseUrl: `http://127.0.0.1:${port}/mcp`, lifecycle };
  return {
    transport: 'stdio',
    command: process.execPath,
    args: [PROVIDER, 'stdio', ...(id === 'stubborn' ? [id] : [])],
    environmentVariables: [{ name: 'FAKE_LOG', value: log }],
    lifecycle,
  };
}
