import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { resolve } from 'node:path';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { AuthenticatedRequest } from '../src/access.guard.js';
import { AppModule } from '../src/app.module.js';
import { readConfig } from '../src/config.js';
import { SessionRecorder } from '../src/connections/session-recorder.js';
import { CredentialsService } from '../src/credentials.service.js';
import { openPlatform, type Platform } from '../src/platform.js';
import type { OperatorScope } from '../src/principal.js';
import { ProblemFilter } from '../src/problem.filter.js';
import { RequestGate } from '../src/request-gate.js';
import { validationPipe } from '../src/validation.js';
import { migrations } from '../migrations/index.js';
import { admin } from './support/author.js';
import { Api } from './support/api.js';
import { createTestDatabase, type TestDatabase } from './support/test-database.js';

const API_KEY = 'sk-live-0123456789abcdef';
/** A provider that never says by itself that its tools changed. */
const PROVIDER = [resolve('test/providers/catalog-provider.mjs'), resolve('test/data/catalogs/server-memory.json')];

let testDatabase: TestDatabase;
let platform: Platform;
let application: NestFastifyApplication;
let api: Api;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  const { settings } = readConfig({
    PATH: process.env['PATH'],
    PORT: '0',
    LOG_LEVEL: 'silent',
    DATABASE_URL: testDatabase.connectionString,
    WARREN_SECRET_KEYS: `test:${Buffer.alloc(32, 7).toString('base64')}`,
  });
  platform = await openPlatform(settings, migrations);
  const adapter = new FastifyAdapter();
  application = await NestFactory.create<NestFastifyApplication>(AppModule.on(platform), adapter, { logger: false });
  application.useGlobalFilters(new ProblemFilter(platform.logger, platform.ownSecrets));
  application.useGlobalPipes(validationPipe());
  const gate = application.get(RequestGate);
  adapter.getInstance().addHook('onRequest', async (request: AuthenticatedRequest) => gate.admit(request));
  await application.listen(0, '127.0.0.1');
  api = new Api(await application.getUrl(), await key('admin'));
});

afterAll(async () => {
  await application.close();
  await platform.close();
  await testDatabase.drop();
});

async function key(...scopes: OperatorScope[]): Promise<string> {
  const { token } = await application.get(CredentialsService).issueOperatorKey(admin, scopes.join(), scopes);
  return token;
}

const http = { transport: 'http', baseUrl: 'https://a.example/mcp' };

describe('/api/connections', () => {
  it('saves, reads, changes and deletes', async () => {
    const created = await api.post('/api/connections', { ...http, id: 'one', name: 'One', apiKey: API_KEY });
    expect(created.status).toBe(201);
    expect(created.headers.get('location')).toBe('/api/connections/one');
    expect(created.body).toMatchObject({
      id: 'one',
      apiKeyConfigured: true,
      args: [],
      command: null,
      enabled: true,
      lifecycle: 'ephemeral',
      catalog: null,
      lastKnown: null,
      live: { state: 'idle' },
      revision: 1,
      warnings: [],
    });

    const read = await api.get('/api/connections/one');
    expect(read.body).toEqual(created.body);
    expect(read.headers.get('etag')).toBe('"1"');

    const changed = await api.patch('/api/connections/one', { callTimeoutMs: 5 }, { 'if-match': '"1"' });
    expect([changed.status, changed.headers.get('etag')]).toEqual([200, '"2"']);
    const stale = await api.patch('/api/connections/one', { callTimeoutMs: 6 }, { 'if-match': '"1"' });
    expect([stale.status, stale.body.code]).toEqual([412, 'stale_revision']);
    const reset = await api.patch('/api/connections/one', { callTimeoutMs: null });
    expect(reset.body.callTimeoutMs).toBe(30_000);

    const exported = await api.get('/api/connections/export');
    expect(exported.body.mcpServers.One).toEqual({
      type: 'http',
      url: 'https://a.example/mcp',
      headers: { Authorization: 'Bearer ${API_KEY}' },
    });

    expect((await api.delete('/api/connections/one')).status).toBe(204);
    for (const answer of [await api.get('/api/connections/one'), await api.delete('/api/connections/one')]) {
      expect([answer.status, answer.body.code]).toEqual([404, 'connection_not_found']);
    }
  });

  it.each([
    [{ name: 'x', transport: 'http' }, 400, 'validation_failed', ['baseUrl']],
    [{ ...http, name: 'x', headers: [{ name: 'Host', value: 'y' }] }, 400, 'header_reserved', ['headers[0].name']],
    [{ ...http, name: 'x', headers: [{ name: 'X', value: 'a\nb' }] }, 400, 'validation_failed', ['headers[0].value']],
    [{ ...http, name: 'x', headers: [{ name: 'X' }] }, 422, 'secret_value_required', ['headers[0].value']],
    [{ ...http, name: 'x', command: 'node' }, 400, 'validation_failed', ['command']],
    [{ ...http, name: ' ', callTimeoutMs: 0 }, 400, 'validation_failed', ['callTimeoutMs', 'name']],
    [{ ...http, name: 'x', nonsense: 1 }, 400, 'validation_failed', ['nonsense']],
    [{ ...http, name: 'x', auth: { type: 'oauth', clientId: 'y' } }, 422, 'auth_type_unsupported', ['auth.type']],
    [{ name: 'x', transport: 'stdio', command: 'node', args: ['a', 1] }, 400, 'validation_failed', ['args[1]']],
    [
      { name: 'x', transport: 'stdio', command: 'node', environmentVariables: [{ name: 'WARREN_CHILD', value: 'y' }] },
      422,
      'environment_variable_reserved',
      ['environmentVariables[0].name'],
    ],
  ])('refuses %j with %i %s', async (body, status, code, paths) => {
    const { body: problem, status: answered } = await api.post('/api/connections', body);
    expect([answered, problem.code]).toEqual([status, code]);
    expect(problem.errors.map(({ path }: { path: string }) => path).toSorted()).toEqual(paths);
  });

  it('opens each change to the scope it needs', async () => {
    const stdio = { name: 'By launch', transport: 'stdio', command: 'node' };
    const [launch, write, read] = [await key('launch'), await key('write'), await key('read')];
    const refused = async (token: string, body: object): Promise<unknown[]> => {
      const answer = await api.as(token).post('/api/connections', body);
      return [answer.status, answer.body.code];
    };
    expect(await refused(write, stdio)).toEqual([403, 'forbidden']);
    expect(await refused(launch, { ...http, name: 'By write' })).toEqual([403, 'forbidden']);
    expect(await refused(read, { ...http, name: 'By read' })).toEqual([403, 'forbidden']);
    const { id } = (await api.as(launch).post('/api/connections', stdio)).body;
    expect((await api.as(write).patch(`/api/connections/${id}`, { args: ['x'] })).status).toBe(403);
    expect((await api.as(write).patch(`/api/connections/${id}`, { name: 'Renamed' })).status).toBe(200);
    expect((await api.as(read).get(`/api/connections/${id}`)).body.name).toBe('Renamed');
    expect((await api.as(read).delete(`/api/connections/${id}`)).status).toBe(403);
  });

  it('tells a failed discovery as a warning', async () => {
    const body = { name: 'Broken', transport: 'stdio', command: 'no-such-command', lifecycle: 'keep_alive' };
    const { status, body: answer } = await api.post('/api/connections?discover=true', body);
    expect(status).toBe(201);
    expect(answer.warnings.map(({ code }: { code: string }) => code)).toEqual(['discovery_failed']);
  });

  it('starts and stops a lasting session, and keeps its transitions', async () => {
    const body = {
      id: 'lasting',
      name: 'Lasting',
      transport: 'stdio',
      command: 'node',
      args: PROVIDER,
      lifecycle: 'keep_alive',
    };
    await api.expect(201, 'POST', '/api/connections', body);
    const started = await api.expect(200, 'POST', '/api/connections/lasting/start');
    expect(started.live).toMatchObject({ state: 'connected', processes: [{ pid: expect.any(Number) }] });
    const { items } = await api.expect(200, 'GET', '/api/connections?state=connected');
    expect(items.map(({ id }: { id: string }) => id)).toEqual(['lasting']);

    const stopped = await api.expect(200, 'POST', '/api/connections/lasting/stop');
    expect(stopped.live.processes).toBeUndefined();
    expect(stopped.live.state).toBe('closed');

    await api.expect(200, 'POST', '/api/connections/lasting/start');
    const disabled = await api.expect(200, 'PATCH', '/api/connections/lasting', { enabled: false });
    expect(disabled.live.processes).toBeUndefined();
    const refused = await api.post('/api/connections/lasting/start');
    expect([refused.status, refused.body.code]).toEqual([409, 'connection_disabled']);

    await application.get(SessionRecorder).flush();
    const events = await api.expect(200, 'GET', '/api/connections/lasting/events?limit=4');
    expect(events.items.map(({ status }: { status: string }) => status)).toEqual([
      'stopped',
      'ready',
      'starting',
      'stopped',
    ]);
    const { rows } = await platform.database.pool.query("select protocol_era from connections where id = 'lasting'");
    expect(rows).toEqual([{ protocol_era: { era: 'legacy', learnedAt: expect.any(String) } }]);
    const { lastKnown } = await api.expect(200, 'GET', '/api/connections/lasting');
    expect(lastKnown.status).toBe('stopped');
  });

  it('answers an unreachable provider with its reason', async () => {
    const body = { id: 'gone', name: 'G', transport: 'stdio', command: 'no-such-command', lifecycle: 'keep_alive' };
    await api.expect(201, 'POST', '/api/connections', body);
    const { status, body: problem } = await api.post('/api/connections/gone/start');
    expect([status, problem.code, problem.reason]).toEqual([502, 'provider_unreachable', 'executable_not_found']);
  });
});
