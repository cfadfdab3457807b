import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createToken } from '../src/token.js';
import { agentClients } from './support/agent-clients.js';
import { eventually, MenuBench } from './support/menu-bench.js';
import { startWarren, type TestWarren } from './support/warren.js';

describe('failed authentications', () => {
  let warren: TestWarren;

  beforeAll(async () => {
    warren = await startWarren({ environment: { WARREN_RATE_AUTH_FAILURES: '5' } });
  });

  afterAll(() => warren.stop());

  it('beyond the bound are answered 429 before anything is looked at, a token that works here is not', async () => {
    const { key: fresh } = await warren.api.expect(201, 'POST', '/api/keys', { name: 'fresh', scopes: ['read'] });
    const stranger = () => warren.api.as(createToken('operator').token);
    for (let time = 0; time < 5; time += 1) await stranger().expect(401, 'GET', '/api/agents');

    const refused = await stranger().post('/api/agents', { name: 'x' });
    expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(12);
    expect((await stranger().post('/mcp', {})).status).toBe(429);
    // nothing is learnt about a token that was not let in from here before
    expect((await warren.api.as(fresh).get('/api/agents')).status).toBe(429);

    await warren.api.expect(200, 'GET', '/api/agents');
    // one token is one, in whatever spelling of the header, so that nobody crowds out the others that are known
    const spelt = { authorization: `bearer   ${warren.adminKey}` };
    expect((await fetch(new URL('/api/agents', warren.url), { headers: spelt })).status).toBe(200);
    expect((await warren.api.as(undefined).get('/api/agents')).status).toBe(401);
    expect((await warren.api.as(undefined).get('/health/ready')).status).toBe(200);
    const metrics = await fetch(new URL('/metrics', warren.url), {
      headers: { authorization: `Bearer ${warren.adminKey}` },
    });
    expect(await metrics.text()).toMatch(/^warren_rate_limited_total\{bound="auth_failures"\} 3$/m);
  });

  it('keep a revoked key from being tried on', async () => {
    const other = await startWarren({ database: warren.database, environment: { WARREN_RATE_AUTH_FAILURES: '3' } });
    try {
      const { key, id } = await other.api.expect(201, 'POST', '/api/keys', { name: 'k', scopes: ['read'] });
      await other.api.as(key).expect(200, 'GET', '/api/agents');
      await other.api.expect(204, 'DELETE', `/api/keys/${id}`);
      const statuses: number[] = [];
      for (let time = 0; time < 5; time += 1) statuses.push((await other.api.as(key).get('/api/agents')).status);
      expect(statuses).toEqual([401, 401, 401, 401, 401]);
      expect((await other.api.as(createToken('operator').token).get('/api/agents')).status).toBe(429);
    } finally {
      await other.stop();
    }
  });
});

describe('requests of one key', () => {
  it('are bounded, and those of another are not', async () => {
    const warren = await startWarren({ environment: { WARREN_RATE_REQUESTS: '5' } });
    try {
      const { key } = await warren.api.expect(201, 'POST', '/api/keys', { name: 'eager', scopes: ['read'] });
      const eager = warren.api.as(key);
      const answers = await Promise.all(Array.from({ length: 40 }, () => eager.get('/api/agents')));
      const refused = answers.filter(({ status }) => status === 429);
      expect(refused.length).toBeGreaterThan(0);
      expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(5);
      expect(refused[0]?.body).toMatchObject({ code: 'rate_limited' });
      expect(refused[0]?.headers.get('retry-after')).toBe('1');
      await warren.api.expect(200, 'GET', '/api/agents');
    } finally {
      await warren.stop();
    }
  });
});

describe('menu calls of one agent at once', () => {
  let bench: MenuBench;

  beforeAll(async () => {
    bench = await MenuBench.start({ WARREN_RATE_AGENT_CALLS: '2' });
    await bench.connect('p');
    await bench.agent('busy', ['p/slow', 'p/ok']);
    await bench.agent('calm', ['p/ok']);
  });

  afterAll(() => bench.stop());

  it('are an outcome beyond the bound, whichever way they come, and others have their own', async () => {
    const open = [1, 2].map(() => bench.begin('busy', { provider: 'p', tool: 'slow', arguments: {} }));
    await eventually(async () => ((await bench.arrivals('p', 'slow')).length === 2 ? true : undefined));
    const limited = { code: 'rate_limited', sent: 'no', retryable: true, retryAfterMs: expect.any(Number) };
    const call = { provider: 'p', tool: 'ok', arguments: {} };
    expect(await bench.call('busy', call)).toMatchObject({ ok: false, error: limited });
    expect(await bench.menu('busy', 'mcp_providers', {})).toMatchObject({ ok: false, error: limited });
    expect(await bench.menu('busy', 'mcp_capabilities', { query: 'ok' })).toMatchObject({ ok: false, error: limited });

    const { token } = await bench.api.expect(201, 'POST', '/api/agents/busy/tokens', {});
    for (const connect of Object.values(agentClients)) {
      const client = await connect(bench.warren.url, token);
      const answer = await client.call('mcp_call', call);
      await client.close();
      expect(answer.isError).toBe(true);
      expect(JSON.parse(answer.content[0]?.text ?? '')).toMatchObject(limited);
    }

    expect(await bench.call('calm', call)).toMatchObject({ ok: true });
    for (const begun of open) begun.leave();
    await Promise.all(open.map(({ left }) => left));
    await eventually(async () => ((await bench.call('busy', call)).ok ? true : undefined));
  });
});
