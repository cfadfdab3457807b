import { operatorScopes, type OperatorScope } from '../src/principal.js';
import { createToken } from '../src/token.js';
import type { Access, RouteRow } from './route-access.table.js';
import type { TestWarren } from './support/warren.js';

export interface Caller {
  name: string;
  /** The Authorization header; undefined sends none. */
  authorization: string | undefined;
  /** What this caller is let through to; 401 everywhere else when it has no standing, 403 when it has. */
  opens: readonly Access[];
  known: boolean;
}

const READERS: readonly Access[] = ['public', 'read'];
const OPENED: Record<OperatorScope, readonly Access[]> = {
  read: READERS,
  write: [...READERS, 'write', 'write-or-launch', 'agent'],
  launch: [...READERS, 'launch', 'write-or-launch'],
  decide: READERS,
  admin: [...READERS, 'write', 'launch', 'write-or-launch', 'agent', 'admin'],
};

/** What a route is expected to answer this caller: 401 or 403, or anything else. */
export function standing(row: RouteRow, caller: Caller): 'open' | 401 | 403 {
  if (caller.opens.includes(row.access)) return 'open';
  return caller.known ? 403 : 401;
}

/** One caller of every kind: without standing for every reason, operators with one scope each, and two agents. */
export async function makeCallers(warren: TestWarren): Promise<Caller[]> {
  const callers: Caller[] = [];
  for (const [name, authorization] of Object.entries(await makeStrangers(warren))) {
    callers.push({ name, authorization, opens: ['public'], known: false });
  }
  for (const scope of operatorScopes) {
    const { key } = await warren.api.expect(201, 'POST', '/api/keys', { name: scope, scopes: [scope] });
    callers.push({ name: `a key with ${scope}`, authorization: `Bearer ${key}`, opens: OPENED[scope], known: true });
  }
  const own = await agentToken(warren, 'own');
  const other = await agentToken(warren, 'other');
  return [
    ...callers,
    { name: 'the own agent', authorization: `Bearer ${own.token}`, opens: ['public', 'agent', 'mcp'], known: true },
    { name: 'another agent', authorization: `Bearer ${other.token}`, opens: ['public', 'mcp'], known: true },
  ];
}

async function agentToken({ api }: TestWarren, id: string): Promise<{ id: string; token: string }> {
  await api.post('/api/agents', { id, name: id });
  return api.expect(201, 'POST', `/api/agents/${id}/tokens`, {});
}

/** Everyone who has no standing (any more), by the reason. */
async function makeStrangers(warren: TestWarren): Promise<Record<string, string | undefined>> {
  const { api } = warren;
  const key = async (name: string): Promise<{ id: string; key: string }> =>
    api.expect(201, 'POST', '/api/keys', { name, scopes: ['admin'] });
  const revokedKey = await key('revoked');
  await api.expect(204, 'DELETE', `/api/keys/${revokedKey.id}`);
  const expiredKey = await key('expired');
  const revokedToken = await agentToken(warren, 'own');
  await api.expect(204, 'DELETE', `/api/agents/own/tokens/${revokedToken.id}`);
  const expiredToken = await agentToken(warren, 'own');
  await warren.database
    .pool()
    .query(`update credentials set expires_at = now() where id = any($1)`, [[expiredKey.id, expiredToken.id]]);
  const disabled = await agentToken(warren, 'disabled');
  await api.expect(200, 'PATCH', '/api/agents/disabled', { enabled: false });
  const deleted = await agentToken(warren, 'deleted');
  await api.expect(204, 'DELETE', '/api/agents/deleted');
  const misspelt = warren.adminKey.slice(0, -1) + (warren.adminKey.endsWith('0') ? '1' : '0');
  const otherSecret = createToken('operator').token.slice(17);
  return {
    'no token': undefined,
    'an empty token': 'Bearer ',
    'a malformed token': 'Bearer wop_short',
    'a token with a wrong checksum': `Bearer ${misspelt}`,
    'a token under another scheme': `Basic ${Buffer.from(`:${warren.adminKey}`).toString('base64')}`,
    'a token without a scheme': warren.adminKey,
    'an unknown key': `Bearer ${createToken('operator').token}`,
    'an unknown agent token': `Bearer ${createToken('agent').token}`,
    'a known id with another secret': `Bearer ${warren.adminKey.slice(0, 17)}${otherSecret}`,
    'a revoked key': `Bearer ${revokedKey.key}`,
    'an expired key': `Bearer ${expiredKey.key}`,
    'a revoked agent token': `Bearer ${revokedToken.token}`,
    'an expired agent token': `Bearer ${expiredToken.token}`,
    'the token of a disabled agent': `Bearer ${disabled.token}`,
    'the token of a deleted agent': `Bearer ${deleted.token}`,
  };
}
