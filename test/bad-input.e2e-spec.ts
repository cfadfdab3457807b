import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { MenuBench } from './support/menu-bench.js';
import { encodeCursor } from '../src/pagination.js';
import { createToken } from '../src/token.js';

let bench: MenuBench;
let agentToken: string;

beforeAll(async () => {
  bench = await MenuBench.start();
  await bench.agent('ann', []);
  agentToken = (await bench.api.expect(201, 'POST', '/api/agents/ann/tokens', {})).token;
});

afterAll(() => bench.stop());

describe('a path parameter with a NUL', () => {
  it.each([
    ['DELETE', '/api/keys/%00', 'key_not_found'],
    ['DELETE', `/api/keys/${createToken('operator').id}%00`, 'key_not_found'],
    ['GET', '/api/agents/ann%00', 'agent_not_found'],
    ['PATCH', '/api/agents/%00', 'agent_not_found'],
    ['DELETE', '/api/agents/%00', 'agent_not_found'],
    ['GET', '/api/agents/%00/tokens', 'agent_not_found'],
    ['DELETE', '/api/agents/ann/tokens/%00', 'token_not_found'],
    ['GET', '/api/agents/%00/mcp-tools', 'agent_not_found'],
    ['GET', '/api/calls/%00', 'call_not_found'],
    ['GET', '/api/connections/%00', 'connection_not_found'],
    ['GET', '/api/connections/%00/tools', 'connection_not_found'],
    ['GET', '/api/connections/%00/events', 'connection_not_found'],
    ['POST', '/api/connections/%00/discover', 'connection_not_found'],
  ])('names nothing: %s %s', async (method, path, code) => {
    const answer = await bench.api.send(method, path, method === 'PATCH' ? { name: 'x' } : undefined, {});
    expect(answer).toMatchObject({ status: 404, body: { code } });
  });
});

describe('a time', () => {
  it.each(['2030-W01-1', '20300101', '2030-001', '2030-01-01', '2030-01-01T00:00:00', '0000-01-01T00:00:00Z'])(
    'is not %s',
    async (time) => {
      const problem = { status: 400, body: { code: 'validation_failed' } };
      const key = { name: 'k', scopes: ['read'], expiresAt: time };
      expect(await bench.api.post('/api/keys', key)).toMatchObject(problem);
      expect(await bench.api.post('/api/agents/ann/tokens', { expiresAt: time })).toMatchObject(problem);
      expect(await bench.api.get(`/api/calls?from=${time}`)).toMatchObject(problem);
    },
  );

  it.each(['2030-W01-1', '+275760-01-01T00:00:00Z', '0000-01-01T00:00:00Z', '1', 'Jan 1 2030'])(
    'of a cursor is not %s',
    async (time) => {
      const cursor = encodeCursor([time, 'x']);
      for (const list of ['/api/keys', '/api/calls', '/api/agents/ann/tokens']) {
        const answer = await bench.api.get(`${list}?cursor=${cursor}`);
        expect(answer).toMatchObject({ status: 400, body: { code: 'cursor_invalid' } });
      }
    },
  );
});

describe('a body nested too deeply', () => {
  const nested = (levels: number): string => `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;

  const send = async (path: string, token: string, body: string): Promise<{ status: number; body: unknown }> => {
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    };
    const answer = await fetch(new URL(path, bench.warren.url), { method: 'POST', headers, body });
    return { status: answer.status, body: await answer.json() };
  };

  const detail = 'The body is nested too deeply; 200 levels are read.';
  const problem = { code: 'malformed_json', detail };
  const paths = [
    ...['/api/connections', '/api/keys', '/api/grants/apply', '/api/agents/ann/menu/mcp_call'].map((path) => ({
      path,
      body: problem as object,
    })),
    { path: '/mcp', body: { jsonrpc: '2.0', id: null, error: { code: -32_700, message: detail } } },
  ];

  it.each(paths)('is refused in the form of its door: $path', async ({ path, body }) => {
    const token = path.includes('ann') || path === '/mcp' ? agentToken : bench.warren.adminKey;
    for (const levels of [201, 10_000, 1_000_000]) {
      expect(await send(path, token, nested(levels))).toMatchObject({ status: 400, body });
    }
    const read = await send(path, token, nested(200));
    expect(JSON.stringify(read.body)).not.toContain('nested too deeply; 200');
    expect(read.status).toBeLessThan(500);
  });
});
