import { setTimeout as delay } from 'node:timers/promises';
import { CONNECTIONS, type ConnectionId, type RevocationBench, WORKER } from './revocation.bench.js';
import type { Api } from './support/api.js';

/** One revocation that is about to happen. */
export interface Prepared {
  /** What the callers present. */
  token: string;
  /** What they call. */
  connections: readonly ConnectionId[];
  /** Resolves when the change is acknowledged. */
  revoke: (api: Api) => Promise<unknown>;
  /** Puts everything back. */
  restore?: () => Promise<unknown>;
  /** For a credential that expires: the moment, by PostgreSQL's clock. */
  expiresAt?: Date;
}

/** `tokenLifeMs`: time for the callers to get going, for a token that expires. */
export type Prepare = (bench: RevocationBench, trial: number, tokenLifeMs?: number) => Promise<Prepared>;

const AGENT = `/api/agents/${WORKER}`;
const TOOLS = `${AGENT}/mcp-tools`;
const TOKEN_LIFE_MS = 250;

/** The plainest revocation: the agent's complete set of grants becomes empty. */
export const replacedGrants: Prepare = (bench) =>
  ofGrants(bench, (api) => api.expect(200, 'PUT', TOOLS, { tools: [] }));

/** Every way to take permission away. */
export const revocationKinds: Readonly<Record<string, Prepare>> = {
  'grants replaced (PUT)': replacedGrants,
  'grants removed (PATCH)': (bench) =>
    ofGrants(bench, (api) => api.expect(200, 'PATCH', TOOLS, { remove: bench.grants() })),
  'grants removed (apply)': (bench) =>
    ofGrants(bench, (api) =>
      api.expect(200, 'POST', '/api/grants/apply', { agentIds: [WORKER], remove: bench.grants() }),
    ),
  'agent token revoked': async (bench) => {
    const { id, token } = await bench.createToken();
    return { token, connections: CONNECTIONS, revoke: (api) => api.expect(204, 'DELETE', `${AGENT}/tokens/${id}`) };
  },
  'agent token expired': async (bench, _trial, tokenLifeMs = TOKEN_LIFE_MS) => {
    const expiresAt = await bench.databaseTime(tokenLifeMs);
    const { id, token } = await bench.createToken(expiresAt);
    return {
      token,
      connections: CONNECTIONS,
      expiresAt,
      revoke: async () => {
        for (let now = await bench.databaseTime(); now <= expiresAt; now = await bench.databaseTime()) {
          await delay(expiresAt.getTime() - now.getTime());
        }
      },
      restore: () => bench.api.expect(204, 'DELETE', `${AGENT}/tokens/${id}`),
    };
  },
  'operator key revoked': async (bench) => {
    const { id, key } = await bench.api.expect(201, 'POST', '/api/keys', { name: 'caller', scopes: ['write'] });
    return { token: key, connections: CONNECTIONS, revoke: (api) => api.expect(204, 'DELETE', `/api/keys/${id}`) };
  },
  'agent disabled': async (bench) => ({
    token: await bench.workerToken(),
    connections: CONNECTIONS,
    revoke: (api) => api.expect(200, 'PATCH', AGENT, { enabled: false }),
    restore: () => bench.api.expect(200, 'PATCH', AGENT, { enabled: true }),
  }),
  'agent deleted': async (bench) => ({
    token: (await bench.createToken()).token,
    connections: CONNECTIONS,
    revoke: (api) => api.expect(204, 'DELETE', AGENT),
    restore: () => bench.createWorker(),
  }),
  'connection disabled': (bench, trial) =>
    ofConnection(bench, trial, (api, path) => api.expect(200, 'PATCH', path, { enabled: false })),
  'connection deleted': async (bench, trial) => {
    const id = connectionOf(trial);
    return {
      token: await bench.workerToken(),
      connections: [id],
      revoke: (api) => api.expect(204, 'DELETE', `/api/connections/${id}`),
      restore: async () => {
        await bench.createConnection(id);
        await bench.api.expect(200, 'PATCH', TOOLS, { add: bench.grants([id]) });
      },
    };
  },
  'allowTools narrowed': (bench, trial) =>
    ofConnection(bench, trial, (api, path) => api.expect(200, 'PATCH', path, { allowTools: ['spare'] })),
  'denyTools widened': (bench, trial) =>
    ofConnection(bench, trial, (api, path) => api.expect(200, 'PATCH', path, { denyTools: ['record', 'slow'] })),
};

async function ofGrants(bench: RevocationBench, revoke: Prepared['revoke']): Promise<Prepared> {
  return {
    token: await bench.workerToken(),
    connections: CONNECTIONS,
    revoke,
    restore: () => bench.api.expect(200, 'PATCH', TOOLS, { add: bench.grants() }),
  };
}

async function ofConnection(
  bench: RevocationBench,
  trial: number,
  revoke: (api: Api, path: string) => Promise<unknown>,
): Promise<Prepared> {
  const id = connectionOf(trial);
  const path = `/api/connections/${id}`;
  return {
    token: await bench.workerToken(),
    connections: [id],
    revoke: (api) => revoke(api, path),
    restore: () => bench.api.expect(200, 'PATCH', path, { enabled: true, allowTools: null, denyTools: null }),
  };
}

function connectionOf(trial: number): ConnectionId {
  return trial % 2 === 0 ? 'line' : 'web';
}
