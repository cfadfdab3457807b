import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { wrongTokens } from './oauth.corpus.js';
import { routeTable, nameOf } from './route-access.table.js';
import { FakeIssuer, AUDIENCE } from './support/fake-issuer.js';
import { eventually, MenuBench } from './support/menu-bench.js';
import { rawRequest, type RawAnswer } from './support/raw-request.js';

const LIST = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
const CHALLENGE = `Bearer resource_metadata="https://warren.example/.well-known/oauth-protected-resource/mcp"`;
/** The bounds that are for strangers: most of this file is about tokens that are refused. */
const NO_RATE_BOUND = { WARREN_RATE_AUTH_FAILURES: '1000000', WARREN_RATE_REQUESTS: '1000000' };

let issuer: FakeIssuer;
let bench: MenuBench;
/** Counts whoever comes; nobody may. */
let elsewhere: Server;
let visits = 0;
let began: number;

beforeAll(async () => {
  elsewhere = createServer((_request, response) => {
    visits += 1;
    response.end('{}');
  }).listen(0, '127.0.0.1');
  await once(elsewhere, 'listening');
  issuer = await FakeIssuer.start();
  bench = await MenuBench.start({ ...NO_RATE_BOUND, ...issuer.environment });
  began = performance.now();
  await bench.connect('one');
  await bench.agent('own', ['one/ok', 'one/slow']);
  await bench.agent('other', []);
  await bench.agent('disabled', [], { enabled: false });
});

afterAll(async () => {
  await bench.stop();
  await issuer.stop();
  elsewhere.close();
});

function mcp(token: string | undefined, body = LIST): Promise<RawAnswer> {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const shown: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return rawRequest(bench.warren.url, 'POST', '/mcp', { ...headers, ...shown }, body);
}

/** How often the keys may have been asked for by now: at the first token, and then once in 30 s. */
const mostKeyRequests = (): number => 2 + Math.floor((performance.now() - began) / 30_000);

describe('a token of the authorization server', () => {
  it.each([
    ['plain', {}, {}],
    ['of type JWT', {}, { typ: 'JWT' }],
    ['without a type', {}, { typ: undefined }],
    ['without a key id, as there is one key', {}, { kid: undefined }],
    ['for several audiences', { aud: ['https://other.example', AUDIENCE] }, {}],
    ['with much else in it', { groups: Array.from({ length: 300 }, (_, at) => `group-${at}`) }, {}],
    ['with another key in jwk, which counts for nothing', {}, { jwk: { kty: 'RSA', n: 'AQAB', e: 'AQAB' } }],
  ])('opens /mcp: %s', async (_what, claims, header) => {
    const answer = await mcp(issuer.token(claims, header));
    expect([answer.status, JSON.parse(answer.text).result.tools.length]).toEqual([200, 3]);
  });

  it('calls as its agent, and leaves a receipt that names the token by a hash', async () => {
    const own = bench.api.as(issuer.token());
    const receipt = await own.expect(200, 'POST', '/api/agents/own/menu/mcp_call', { provider: 'one', tool: 'ok' });
    expect(receipt).toMatchObject({ ok: true });
    const { actor } = await bench.api.expect(200, 'GET', `/api/calls/${receipt.callId}`);
    expect(actor).toEqual({ kind: 'agent', id: 'own', tokenId: expect.stringMatching(/^jwt_[\w-]{22}$/) });
  });

  it('opens exactly what the token of its agent opens', async () => {
    const { token } = await bench.api.expect(201, 'POST', '/api/agents/own/tokens', {});
    const differences: string[] = [];
    for (const row of routeTable) {
      for (const agent of ['own', 'other', 'disabled']) {
        const path = row.path.includes('/menu/')
          ? row.path.replace('{id}', 'own')
          : row.path.replaceAll(/\{\w+\}/g, 'none');
        const ask = (shown: string): Promise<RawAnswer> =>
          rawRequest(bench.warren.url, row.method, path, { authorization: `Bearer ${shown}` });
        const [jwt, stored] = await Promise.all([
          ask(issuer.token({ agent })),
          agent === 'own' ? ask(token) : undefined,
        ]);
        const open = row.access === 'public' || row.access === 'mcp' || (row.access === 'agent' && agent === 'own');
        const expected = agent === 'disabled' && row.access !== 'public' ? 401 : open ? 'open' : 403;
        const found = jwt.status === 401 || jwt.status === 403 ? jwt.status : 'open';
        if (found !== expected) differences.push(`${nameOf(row)} for ${agent}: ${jwt.status}`);
        if (stored !== undefined && stored.status !== jwt.status) differences.push(`${nameOf(row)}: ${stored.status}`);
      }
    }
    expect(differences).toEqual([]);
  });

  it('is masked where a provider sends it back', async () => {
    const token = issuer.token();
    const { content } = await bench.api.as(token).expect(200, 'POST', '/api/agents/own/menu/mcp_call', {
      provider: 'one',
      tool: token,
    });
    expect(JSON.stringify(content)).not.toContain(token.split('.')[2]);
    expect(bench.warren.log()).not.toContain(token.split('.')[2]);
  });

  it('loses its standing with its agent at once, also for the call that runs', async () => {
    await bench.agent('leaving', ['one/slow']);
    const leaving = bench.api.as(issuer.token({ agent: 'leaving' }));
    const call = { provider: 'one', tool: 'slow' };
    const running = leaving.expect(200, 'POST', '/api/agents/leaving/menu/mcp_call', call);
    await eventually(async () => ((await bench.arrivals('one', 'slow')).length > 0 ? true : undefined));
    await bench.api.expect(200, 'PATCH', '/api/agents/leaving', { enabled: false });
    expect(await running).toMatchObject({ ok: false, error: { code: 'mcp_call_cancelled' } });
    await leaving.expect(401, 'POST', '/api/agents/leaving/menu/mcp_call', call);
  });

  it('ends with its time, also for the call that runs', async () => {
    // within the leeway for clocks that differ, of which some is left
    const exp = Math.floor(Date.now() / 1_000) - 2;
    const before = (await bench.arrivals('one', 'slow')).length;
    const ending = bench.api.as(issuer.token({ exp }));
    const running = ending.expect(200, 'POST', '/api/agents/own/menu/mcp_call', { provider: 'one', tool: 'slow' });
    await eventually(async () => ((await bench.arrivals('one', 'slow')).length > before ? true : undefined));
    expect(await running).toMatchObject({ ok: false, error: { code: 'mcp_call_cancelled' } });
    await ending.expect(401, 'POST', '/api/agents/own/menu/mcp_call', {});
  });

  it('has standing at admission until its end, for an agent that is there, and no stored credential has it so', async () => {
    const { id } = await bench.api.expect(201, 'POST', '/api/agents/own/tokens', {});
    const pool = bench.warren.database.pool();
    const valid = async (credential: string, agent: string, expires: string | null): Promise<boolean> => {
      const text = `select credential_valid from call_facts($1, $2, 'one', 'ok', now() + $3::interval)`;
      const { rows } = await pool.query<{ credential_valid: boolean }>(text, [credential, agent, expires]);
      return rows[0]?.credential_valid === true;
    };
    expect(await valid('jwt_x', 'own', '1 minute')).toBe(true);
    expect(await valid('jwt_x', 'own', '-1 second')).toBe(false);
    expect(await valid('jwt_x', 'own', null)).toBe(false);
    expect(await valid('jwt_x', 'nobody', '1 minute')).toBe(false);
    expect(await valid(id, 'own', '1 minute')).toBe(false);
    expect(await valid(id, 'own', null)).toBe(true);
  });
});

describe('a token that is wrong', () => {
  it('in whatever way is refused alike, and nobody is asked about it', async () => {
    const tokens = wrongTokens(issuer, `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`);
    const answers = new Set<string>();
    for (const [what, token] of Object.entries({ 'none at all': undefined, ...tokens })) {
      const { status, headers, text } = await mcp(token);
      expect([what, status]).toEqual([what, 401]);
      const { date: _date, 'x-request-id': _id, ...others } = headers;
      answers.add(`${JSON.stringify(others)} ${text.replace(/"requestId":"[^"]*"/, '')}`);
    }
    expect([...answers]).toHaveLength(1);
    expect([...answers][0]).toContain(JSON.stringify(CHALLENGE).slice(1, -1));
    expect(Object.keys(tokens).length).toBeGreaterThan(60);
    expect(visits).toBe(0);
    // the same token is right when nothing is wrong with it
    expect((await mcp(issuer.token())).status).toBe(200);
  });

  it('makes the keys be asked for a bounded number of times, however many name made-up keys', async () => {
    const flood = Array.from({ length: 500 }, (_, at) => issuer.token({}, { kid: `made-up-${at}` }));
    const statuses = await Promise.all(flood.map(async (token) => (await mcp(token)).status));
    expect(new Set(statuses)).toEqual(new Set([401]));
    process.stdout.write(`${flood.length} tokens with made-up keys: ${issuer.keyRequests} requests for keys in all\n`);
    expect(issuer.keyRequests).toBeLessThanOrEqual(mostKeyRequests());
    expect(issuer.keyRequests).toBeGreaterThan(0);
    expect((await mcp(issuer.token())).status).toBe(200);
  });
});

describe('the metadata of /mcp', () => {
  it.each(['/.well-known/oauth-protected-resource', '/.well-known/oauth-protected-resource/mcp'])(
    'is open at %s',
    async (path) => {
      const { body, status } = await bench.api.as(undefined).get(path);
      expect([status, body]).toEqual([
        200,
        {
          resource: AUDIENCE,
          authorization_servers: [issuer.url],
          bearer_methods_supported: ['header'],
          resource_name: 'Warren',
        },
      ]);
    },
  );

  it('is named by the 401 of /mcp only', async () => {
    expect((await mcp(undefined)).headers['www-authenticate']).toBe(CHALLENGE);
    const elsewhereRefused = await bench.api.as(undefined).get('/api/agents');
    expect(elsewhereRefused.headers.get('www-authenticate')).toBe('Bearer');
  });
});
