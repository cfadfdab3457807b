import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { Controller, Get, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { migrations } from '../migrations/index.js';
import type { AuthenticatedRequest } from '../src/access.guard.js';
import { AppModule } from '../src/app.module.js';
import { readConfig } from '../src/config.js';
import { openPlatform, type Platform } from '../src/platform.js';
import { ProblemFilter } from '../src/problem.filter.js';
import { RequestGate } from '../src/request-gate.js';
import { makeCallers, standing, type Caller } from './route-access.callers.js';
import { documentedRoutes, nameOf, printedRoutes, routeTable } from './route-access.table.js';
import { rawRequest, type RawAnswer } from './support/raw-request.js';
import { TEST_KEYRING, startWarren, type TestWarren } from './support/warren.js';

/** This file fails to authenticate on purpose, more often than any bound would let it. */
const NO_RATE_BOUND = { WARREN_RATE_AUTH_FAILURES: '1000000', WARREN_RATE_REQUESTS: '1000000' };

let warren: TestWarren;
let callers: Caller[];

beforeAll(async () => {
  // nobody is asked for keys: these are the routes of a server that trusts an authorization server
  const oauth = {
    WARREN_OAUTH_ISSUER: 'https://login.example',
    WARREN_OAUTH_AUDIENCE: 'https://warren.example/mcp',
    WARREN_OAUTH_AGENT_CLAIM: 'agent',
  };
  warren = await startWarren({ environment: { ...NO_RATE_BOUND, ...oauth } });
  callers = await makeCallers(warren);
});

afterAll(async () => {
  await warren.stop();
});

/** Asks for something that is not there with a body that says nothing, so that no request changes anything. */
function ask(
  { method, path }: { method: string; path: string },
  authorization: string | undefined,
): Promise<RawAnswer> {
  const real = path.includes('/menu/')
    ? path.replace('{id}', 'own')
    : path.replaceAll(/\{\w+\}/g, 'nothing-of-that-name');
  const hasBody = method === 'POST' || method === 'PATCH' || method === 'PUT';
  return rawRequest(
    warren.url,
    method,
    real,
    {
      ...(authorization === undefined ? {} : { authorization }),
      ...(hasBody ? { 'content-type': 'application/json' } : {}),
    },
    hasBody ? '{}' : undefined,
  );
}

function withoutRequestId(text: string): string {
  return text.replace(/"requestId":"[0-9a-f-]{36}"/, '"requestId":""');
}

function expectProblem(answer: RawAnswer): void {
  expect(answer.contentType).toMatch(/^application\/problem\+json/);
  const problem = JSON.parse(answer.text) as Record<string, unknown>;
  expect(problem).toMatchObject({
    type: expect.any(String),
    title: expect.any(String),
    status: answer.status,
    code: expect.stringMatching(/^[a-z]+(_[a-z]+)*$/),
    detail: expect.any(String),
    requestId: answer.headers['x-request-id'],
  });
  const allowed = new Set(['type', 'title', 'status', 'code', 'detail', 'errors', 'reason', 'requestId']);
  expect(Object.keys(problem).filter((name) => !allowed.has(name))).toEqual([]);
}

describe('who may use which route', () => {
  it('lists every documented route with its access, and nothing else', async () => {
    const { body } = await warren.api.as(undefined).get('/openapi.json');
    const expected = routeTable.filter(({ documented }) => documented).map((row) => `${nameOf(row)} ${row.access}`);
    expect(documentedRoutes(body).toSorted()).toEqual(expected.toSorted());
  });

  it('answers every caller on every route as the table says', async () => {
    const wrong: string[] = [];
    let checked = 0;
    for (const row of routeTable) {
      for (const caller of callers) {
        const answer = await ask(row, caller.authorization);
        const expected = standing(row, caller);
        const found = answer.status === 401 || answer.status === 403 ? answer.status : 'open';
        if (found !== expected) wrong.push(`${nameOf(row)} for ${caller.name}: ${answer.status}, not ${expected}`);
        if (answer.status >= 500 && row.path !== '/health/ready') wrong.push(`${nameOf(row)}: ${answer.text}`);
        // a message that `/mcp` took and cannot read is answered in its own protocol
        if (answer.status >= 400 && !(row.path === '/mcp' && answer.status === 400)) expectProblem(answer);
        checked += 1;
      }
    }
    expect(wrong).toEqual([]);
    expect(checked).toBe(routeTable.length * 22);
  });

  it('treats HEAD as GET', async () => {
    for (const row of routeTable.filter(({ method }) => method === 'GET')) {
      const { status } = await ask({ ...row, method: 'HEAD' }, undefined);
      expect([row.path, status === 401]).toEqual([row.path, row.access !== 'public']);
    }
  });

  it('answers 401 in the same bytes for every cause and every route', async () => {
    const bodies = new Set<string>();
    const heads = new Set<string>();
    for (const caller of callers.filter(({ known }) => !known)) {
      for (const path of ['/api/connections', '/api/agents/own', '/no/such/route', '/mcp', '/api/%zz']) {
        const answer = await ask({ method: 'GET', path }, caller.authorization);
        expect([caller.name, path, answer.status]).toEqual([caller.name, path, 401]);
        bodies.add(withoutRequestId(answer.text));
        const { date: _date, 'x-request-id': _id, 'www-authenticate': challenge, ...head } = answer.headers;
        heads.add(JSON.stringify(head));
        expect(challenge).toMatch(path === '/mcp' ? /^Bearer resource_metadata="[^"]+"$/ : /^Bearer$/);
      }
    }
    expect([...bodies]).toHaveLength(1);
    expect([...heads]).toHaveLength(1);
  });

  it('takes no token from the query string', async () => {
    for (const name of ['token', 'access_token', 'authorization', 'key']) {
      const answer = await ask({ method: 'GET', path: `/api/agents?${name}=${warren.adminKey}` }, undefined);
      expect(answer.status).toBe(401);
    }
  });

  it.each([
    ['an unknown route', '/no/such/route', 404, 'route_not_found'],
    ['an unknown part of a resource', '/api/connections/a/no-such-thing', 404, 'route_not_found'],
    ['what begins like the pages', '/docsx', 404, 'route_not_found'],
    ['what begins like health', '/healthx', 404, 'route_not_found'],
    ['a path that cannot be read', '/api/agents/%zz', 400, 'validation_failed'],
    ['an id of 300 characters', `/api/agents/${'a'.repeat(300)}`, 404, 'agent_not_found'],
    ['an id of 3,000 characters', `/api/agents/${'a'.repeat(3_000)}`, 404, 'route_not_found'],
  ])('tells of %s to those with a token only', async (_what, path, status, code) => {
    const stranger = await ask({ method: 'GET', path }, undefined);
    expect(stranger.status).toBe(401);
    const answer = await ask({ method: 'GET', path }, `Bearer ${warren.adminKey}`);
    expectProblem(answer);
    expect([answer.status, JSON.parse(answer.text).code]).toEqual([status, code]);
  });

  it('opens nothing but the public routes without a token', async () => {
    const prefixes = ['/health/', '/docs/', '/schemas/'];
    const guesses = ['/', '/api', '/health', '/metrics', '/openapi.yaml', '/openapi.json/', '/docs-json', '/static/x'];
    for (const path of [...guesses, '/docs/../api/keys', '/health/../api/keys', '//api/keys', '/health//../api/keys']) {
      const { status, text } = await ask({ method: 'GET', path }, undefined);
      // below an open prefix a path is at most refused as no file
      const expected = prefixes.some((prefix) => path.startsWith(prefix)) ? [403, 404] : [401];
      expect([path, ...expected]).toContain(status);
      expect(text).not.toContain('"items"');
    }
  });
});

describe('host and origin', () => {
  const get = (path: string, headers: Record<string, string>): Promise<RawAnswer> =>
    rawRequest(warren.url, 'GET', path, { authorization: `Bearer ${warren.adminKey}`, ...headers });

  it.each(['/api/agents', '/mcp', '/openapi.json', '/docs', '/no/such/route', '/api/%zz'])(
    'refuses a foreign host or origin on %s before it looks at the token',
    async (path) => {
      const foreignHost = await get(path, { host: 'attacker.example', authorization: 'none' });
      expectProblem(foreignHost);
      expect([foreignHost.status, JSON.parse(foreignHost.text).code]).toEqual([403, 'host_not_allowed']);
      expect(JSON.parse(foreignHost.text).detail).toContain('WARREN_ALLOWED_HOSTS');
      for (const origin of ['https://attacker.example', 'null', 'http://localhost.attacker.example', 'file://']) {
        const answer = await get(path, { origin, authorization: 'none' });
        expect([answer.status, JSON.parse(answer.text).code]).toEqual([403, 'origin_not_allowed']);
        expect(JSON.parse(answer.text).detail).toContain('WARREN_ALLOWED_HOSTS');
      }
    },
  );

  it('ignores the port and takes every loopback name', async () => {
    for (const host of ['localhost', 'localhost:1', '127.0.0.1:99', '[::1]:80', 'LOCALHOST', 'localhost.']) {
      expect([host, (await get('/api/agents', { host })).status]).toEqual([host, 200]);
    }
    for (const origin of ['http://localhost:3000', 'https://127.0.0.1', 'http://[::1]:9']) {
      expect([origin, (await get('/api/agents', { origin })).status]).toEqual([origin, 200]);
    }
  });

  it('leaves health open to every host', async () => {
    for (const path of ['/health/live', '/health/ready']) {
      const headers = { host: 'attacker.example', origin: 'https://attacker.example' };
      expect((await get(path, headers)).status).toBe(200);
    }
  });

  it('takes the names of WARREN_ALLOWED_HOSTS', async () => {
    const { database, adminKey } = warren;
    const environment = { WARREN_ALLOWED_HOSTS: 'warren.example' };
    const second = await startWarren({ database, adminKey, environment });
    try {
      const headers = { authorization: `Bearer ${adminKey}`, host: 'warren.example:443' };
      const origin = 'https://warren.example';
      expect((await rawRequest(second.url, 'GET', '/api/agents', { ...headers, origin })).status).toBe(200);
      expect((await rawRequest(second.url, 'GET', '/api/agents', { ...headers, host: 'x.example' })).status).toBe(403);
    } finally {
      await second.stop();
    }
  });
});

@Controller('api/forgotten')
class ForgottenController {
  @Get()
  secret(): string {
    return 'nobody should read this';
  }
}

function settingsOf({ database }: TestWarren): Record<string, string> {
  const { connectionString: DATABASE_URL } = database;
  return { PORT: '0', LOG_LEVEL: 'silent', DATABASE_URL, WARREN_SECRET_KEYS: TEST_KEYRING };
}

describe('the routes that are really registered', () => {
  let platform: Platform;

  beforeAll(async () => {
    platform = await openPlatform(readConfig(settingsOf(warren)).settings, migrations);
  });

  afterAll(() => platform.close());

  it('are those of the table', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [resolve('test/support/print-routes.mjs')], {
      env: settingsOf(warren),
    });
    expect(printedRoutes(stdout).toSorted()).toEqual(routeTable.map(nameOf).toSorted());
  });

  it('include a handler that forgot to name its access, which is closed to everyone', async () => {
    @Module({ imports: [AppModule.on(platform)], controllers: [ForgottenController] })
    class WithForgottenModule {}
    const adapter = new FastifyAdapter();
    const application = await NestFactory.create<NestFastifyApplication>(WithForgottenModule, adapter, {
      logger: false,
    });
    application.useGlobalFilters(new ProblemFilter(platform.logger, platform.ownSecrets));
    const gate = application.get(RequestGate);
    adapter.getInstance().addHook('onRequest', async (request: AuthenticatedRequest) => gate.admit(request));
    await application.listen(0, '127.0.0.1');
    try {
      const tree = adapter.getInstance().printRoutes({ commonPrefix: false });
      expect(printedRoutes(tree)).toContain('GET /api/forgotten');
      for (const { name, authorization, known } of callers) {
        const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
        const answer = await rawRequest(await application.getUrl(), 'GET', '/api/forgotten', headers);
        expect([name, answer.status]).toEqual([name, known ? 403 : 401]);
      }
    } finally {
      await application.close();
    }
  });
});
