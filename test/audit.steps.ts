import path from 'node:path';
import type pg from 'pg';
import type { Api } from './support/api.js';

/** One change by REST, on what `makeReady` made. */
export interface AuditStep {
  name: string;
  /** As in the route table. */
  route: string;
  method: string;
  path: string;
  body?: unknown;
  action: string;
  target: { kind: string; id: string } | ((body: { id: string }) => { kind: string; id: string });
  outcome?: string;
  /** Status when the entry cannot be written, where it is not 500: an outcome for each connection is 200 always. */
  told?: number;
}

const kept = { kind: 'connection', id: 'kept' };
const reader = { kind: 'agent', id: 'reader' };

export const auditSteps: readonly AuditStep[] = [
  step('POST /api/keys', { name: 'k', scopes: ['read'] }, 'key.create', ({ id }) => ({ kind: 'key', id })),
  step('DELETE /api/keys/{id}', undefined, 'key.revoke', { kind: 'key', id: '0key00000000' }, { id: '0key00000000' }),
  step(
    'POST /api/connections',
    { id: 'new', name: 'New', transport: 'http', baseUrl: 'https://a.example/mcp', apiKey: 'super-secret-key' },
    'connection.create',
    { kind: 'connection', id: 'new' },
  ),
  step('PATCH /api/connections/{id}', { maxConcurrentCalls: 3 }, 'connection.update', kept, { id: 'kept' }),
  {
    ...step('PATCH /api/connections/{id}', undefined, 'connection.update', kept, { id: 'kept' }),
    name: 'PATCH /api/connections/{id} of nothing but a secret',
    body: { environmentVariables: [{ name: 'TOKEN', value: 'super-secret-new' }] },
  },
  step('DELETE /api/connections/{id}', undefined, 'connection.delete', kept, { id: 'kept' }),
  { ...step('POST /api/connections/{id}/start', {}, 'connection.start', kept, { id: 'kept' }), outcome: 'requested' },
  step('POST /api/connections/{id}/stop', {}, 'connection.stop', kept, { id: 'kept' }),
  { ...step('POST /api/connections/discover', { ids: ['kept'] }, 'connection.discover', kept), told: 200 },
  step('POST /api/connections/{id}/discover', {}, 'connection.discover', kept, { id: 'kept' }),
  step('POST /api/agents', { id: 'new', name: 'New' }, 'agent.create', { kind: 'agent', id: 'new' }),
  step('PATCH /api/agents/{id}', { enabled: false }, 'agent.update', reader, { id: 'reader' }),
  step('DELETE /api/agents/{id}', undefined, 'agent.delete', reader, { id: 'reader' }),
  step('POST /api/agents/{id}/tokens', {}, 'token.create', ({ id }) => ({ kind: 'token', id }), { id: 'reader' }),
  step(
    'DELETE /api/agents/{id}/tokens/{tokenId}',
    undefined,
    'token.revoke',
    { kind: 'token', id: '0token000000' },
    { id: 'reader', tokenId: '0token000000' },
  ),
  step('PUT /api/agents/{id}/mcp-tools', { tools: [] }, 'grants.change', reader, { id: 'reader' }),
  step('PATCH /api/agents/{id}/mcp-tools', { add: [tool('delete_entities')] }, 'grants.change', reader, {
    id: 'reader',
  }),
  step('POST /api/grants/apply', { agentIds: ['reader'], remove: [tool('create_entities')] }, 'grants.change', reader),
];

/** Tables that operators change, each with the columns that also change by themselves. */
export const WATCHED_TABLES: Record<string, string[]> = {
  agents: [],
  connections: ['last_known', 'protocol_era'],
  connection_secrets: [],
  credentials: [],
  grants: [],
  providers: [],
  tools: [],
};

/** A fresh start for each step: one connection with a catalog, one agent with a grant and a token, one more key. */
export async function makeReady(api: Api, pool: pg.Pool): Promise<void> {
  await pool.query(`delete from agents; delete from providers; delete from credentials where id = '0key00000000'`);
  await api.expect(201, 'POST', '/api/connections?discover=true', {
    id: 'kept',
    name: 'Kept',
    transport: 'stdio',
    lifecycle: 'keep_alive',
    command: process.execPath,
    args: [path.resolve('test/providers/catalog-provider.mjs'), path.resolve('test/data/catalogs/server-memory.json')],
    environmentVariables: [{ name: 'TOKEN', value: 'super-secret-token' }],
  });
  await api.expect(200, 'POST', '/api/connections/kept/stop');
  await api.expect(201, 'POST', '/api/agents', { id: 'reader', name: 'Reader' });
  await api.expect(200, 'PUT', '/api/agents/reader/mcp-tools', { tools: [tool('create_entities')] });
  await pool.query(`
    insert into credentials (id, kind, agent_id, name, token_hash)
    values ('0token000000', 'agent', 'reader', null, ''), ('0key00000000', 'operator', null, 'more', '')`);
}

function tool(toolName: string): { connectionId: string; toolName: string } {
  return { connectionId: 'kept', toolName };
}

function step(
  route: string,
  body: unknown,
  action: string,
  target: AuditStep['target'],
  parameters: Record<string, string> = {},
): AuditStep {
  const [method = '', pattern = ''] = route.split(' ');
  const filled = pattern.replaceAll(/\{(\w+)\}/g, (_, name: string) => parameters[name] ?? '');
  return { name: route, route, method, path: filled, body, action, target };
}
