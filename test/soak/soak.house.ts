import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { agentClients, type AgentClientName } from '../support/agent-clients.js';
import type { Api } from '../support/api.js';
import { createAgent } from '../support/real-providers.js';
import { temporaryDataDirectory } from '../support/temporary-data-directory.js';
import { createTestDatabase } from '../support/test-database.js';
import { startWarren, type TestWarren } from '../support/warren.js';
import { Arrivals } from './soak.arrivals.js';
import { mcpCaller, restCaller, type Caller } from './soak.callers.js';
import { FigureReader } from './soak.figures.js';
import { WebProvider } from './soak.web-provider.js';

export const PROVIDER = path.resolve('test/soak/provider.mjs');
/** The connections: by stdio and by HTTP, each with a lasting session and with one for each call. */
export const CONNECTIONS = ['line', 'web', 'line-once', 'web-once'] as const;
export const TOOLS = ['echo', 'slow', 'large', 'oversize', 'storm'] as const;
/** Of every call, milliseconds; a call that is never answered takes this long. */
export const CALL_TIMEOUT_MS = 4_000;
/** The agent of the faults. */
export const PROBER = 'prober';

const WORKERS = ['worker-1', 'worker-2', 'worker-3', 'worker-4'] as const;
const POOL_NAME = 'soak';
const BOUNDS = {
  // so that a result over the bound is cheap
  WARREN_MAX_MESSAGE_BYTES: String(1024 * 1024),
  // the bounds that are for strangers, not for this load
  WARREN_RATE_AUTH_FAILURES: '1000000',
  WARREN_RATE_REQUESTS: '1000000',
};

/** One Warren with its providers, connections and agents, and what looks at it from outside. */
export interface House {
  readonly warren: TestWarren;
  /** As the admin. */
  readonly api: Api;
  readonly web: WebProvider;
  readonly arrivals: Arrivals;
  readonly figures: FigureReader;
  readonly prober: Caller;
  /** The prober over `/mcp`. */
  mcpProber(): Promise<Caller>;
  /** So many callers of different agents, by turns over REST and over `/mcp`. */
  callers(count: number): Promise<Caller[]>;
  stop(): Promise<void>;
}

/** `stop()` it at the end. What had started is ended when the rest fails to. */
export async function startHouse(): Promise<House> {
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

async function start(started: (() => Promise<unknown>)[], stop: () => Promise<void>): Promise<House> {
  const directory = temporaryDataDirectory();
  const arrivals = new Arrivals(path.join(directory, 'arrivals'));
  await mkdir(arrivals.directory);
  const database = await createTestDatabase();
  started.push(() => database.drop());
  const web = new WebProvider(arrivals.directory);
  started.push(() => web.kill());
  await web.start();
  const socketPath = path.join(directory, 'probe');
  const probe = pathToFileURL(path.resolve('test/soak/probe.mjs')).href;
  const unoptimised = process.env['SOAK_UNOPTIMISED'] ?? '0';
  const environment = {
    ...BOUNDS,
    NODE_OPTIONS: `--import=${probe}`,
    SOAK_PROBE: socketPath,
    SOAK_UNOPTIMISED: unoptimised,
  };
  const warren = await startWarren({ database, environment });
  started.push(() => warren.stop());
  const { api } = warren;
  for (const connection of connections(arrivals.directory, web.url)) {
    const body = { ...connection, callTimeoutMs: CALL_TIMEOUT_MS, maxConcurrentCalls: 16 };
    const { catalog } = await api.expect(201, 'POST', '/api/connections?discover=true', body);
    if (catalog === null) throw new Error(`the catalog of ${connection.id} could not be read`);
  }
  const granted = Object.fromEntries(CONNECTIONS.map((id) => [id, TOOLS]));
  const prober = await createAgent(api, PROBER, granted);
  const workers = new Map<string, Api>();
  for (const id of WORKERS) workers.set(id, await createAgent(api, id, granted));
  const { pid } = warren.process;
  if (pid === undefined) throw new Error('Warren does not run');
  return {
    warren,
    api,
    web,
    arrivals,
    figures: new FigureReader(pid, socketPath, database.pool(POOL_NAME), POOL_NAME),
    prober: restCaller(prober, PROBER),
    mcpProber: () => mcpCaller('SDK 2 (legacy era)', prober),
    callers: async (count) => {
      const agents = [...workers];
      const clients = Object.keys(agentClients) as AgentClientName[];
      const callers: Caller[] = [];
      for (let at = 0; at < count; at += 1) {
        const turn = Math.floor(at / 2);
        const [id, worker] = take(agents, turn);
        callers.push(at % 2 === 0 ? restCaller(worker, id) : await mcpCaller(take(clients, turn), worker));
      }
      return callers;
    },
    stop,
  };
}

function connections(arrivals: string, url: string): { id: string }[] {
  const named = (id: string, lifecycle: string) => ({ id, name: id, lifecycle });
  const line = { transport: 'stdio', command: process.execPath, args: [PROVIDER, 'stdio', arrivals] };
  const web = { transport: 'http', baseUrl: url };
  return [
    { ...named('line', 'keep_alive'), ...line },
    { ...named('web', 'keep_alive'), ...web },
    { ...named('line-once', 'ephemeral'), ...line },
    { ...named('web-once', 'ephemeral'), ...web },
  ];
}

/** By turns. */
function take<T>(list: readonly T[], turn: number): T {
  const found = list[turn % list.length];
  if (found === undefined) throw new Error('nothing to take from');
  return found;
}
