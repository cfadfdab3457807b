import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ConnectionsApi } from './support/connections-api.js';

let connections: ConnectionsApi;

beforeAll(async () => {
  connections = await ConnectionsApi.start();
});

afterAll(() => connections.stop());

const http = { transport: 'http', baseUrl: 'http://127.0.0.1/mcp' };

describe('a connection as a resource', () => {
  it('is created with a Location and an ETag, under an id made from its name where none is given', async () => {
    const paths: (string | null)[] = [];
    for (const name of ['Weather & Tides', 'weather tides', 'Ünïcode 天気', '...', 'export']) {
      const { status, headers, body } = await connections.send('POST', '', { ...http, name });
      expect([name, status, headers.get('etag')]).toEqual([name, 201, '"1"']);
      expect(body).toMatchObject({ name, revision: 1, enabled: true, lifecycle: 'ephemeral' });
      expect(body.id).toMatch(/^[A-Za-z0-9._-]{1,96}$/);
      expect(headers.get('location')).toBe(`/api/connections/${body.id}`);
      expect((await connections.read(body.id)).name).toBe(name);
      paths.push(headers.get('location'));
    }
    expect(new Set(paths).size).toBe(5);
  });

  it('counts its changes in the ETag, and changes only the revision it is told', async () => {
    await connections.ensureHttp('counted');
    const change = async (ifMatch: string | undefined, callTimeoutMs: number): Promise<unknown[]> => {
      const headers = ifMatch === undefined ? undefined : { 'if-match': ifMatch };
      const answer = await connections.send('PATCH', '/counted', { callTimeoutMs }, headers);
      return [answer.status, answer.headers.get('etag') ?? answer.body.code];
    };
    expect(await change('"1"', 1_000)).toEqual([200, '"2"']);
    expect(await change('"1"', 2_000)).toEqual([412, 'stale_revision']);
    expect(await change('"2", "7"', 3_000)).toEqual([200, '"3"']);
    expect(await change('*', 4_000)).toEqual([200, '"4"']);
    expect(await change(undefined, 5_000)).toEqual([200, '"5"']);
    expect(await change('5', 6_000)).not.toEqual([200, '"6"']);
    const { headers, body } = await connections.send('GET', '/counted');
    expect([headers.get('etag'), body.revision, body.callTimeoutMs]).toEqual(['"5"', 5, 5_000]);
  });

  it('lets one of many changes of the same revision through', async () => {
    await connections.ensureHttp('contended');
    const racers = Array.from({ length: 8 }, (_, index) =>
      connections.send('PATCH', '/contended', { callTimeoutMs: 1_000 + index }, { 'if-match': '"1"' }),
    );
    const statuses = (await Promise.all(racers)).map(({ status }) => status);
    expect(statuses.toSorted((a, b) => a - b)).toEqual([200, ...Array<number>(7).fill(412)]);
    expect((await connections.read('contended')).revision).toBe(2);
  });

  it('goes back to its defaults by null, field by field', async () => {
    const defaults = {
      lifecycle: 'ephemeral',
      enabled: true,
      connectTimeoutMs: 20_000,
      callTimeoutMs: 30_000,
      maxConcurrentCalls: 16,
      maxResultChars: 60_000,
      sessionScope: 'connection',
      maxSessions: 8,
      sealedAudience: [],
      allowTools: null,
      denyTools: null,
      sealsValues: false,
    };
    const others = {
      lifecycle: 'keep_alive',
      enabled: false,
      connectTimeoutMs: 1,
      callTimeoutMs: 300_000,
      maxConcurrentCalls: 64,
      maxResultChars: 1_000,
      sessionScope: 'agent',
      maxSessions: 1,
      sealedAudience: ['reset'],
      allowTools: [],
      denyTools: ['a'],
      sealsValues: true,
    };
    await connections.ensureHttp('reset');
    expect(await connections.change('reset', others)).toMatchObject(others);
    const expected: Record<string, unknown> = { ...others };
    for (const [field, value] of Object.entries(defaults)) {
      expected[field] = value;
      expect(await connections.change('reset', { [field]: null })).toMatchObject(expected);
    }
    expect(await connections.refused(400, 'validation_failed', 'reset', { name: null })).toMatchObject([
      { path: 'name' },
    ]);
    expect(await connections.refused(400, 'validation_failed', 'reset', { baseUrl: null })).toMatchObject([
      { path: 'baseUrl' },
    ]);
  });

  it.each([
    ['connectTimeoutMs', 0],
    ['connectTimeoutMs', 300_001],
    ['callTimeoutMs', 1.5],
    ['callTimeoutMs', '30000'],
    ['maxConcurrentCalls', 65],
    ['maxResultChars', 999],
    ['maxResultChars', 10_000_001],
    ['maxSessions', 0],
    ['lifecycle', 'eternal'],
    ['sessionScope', 'all'],
    ['enabled', 'yes'],
    ['name', ''],
    ['name', 'x'.repeat(121)],
    ['name', 'a\u0000b'],
    ['baseUrl', 'ftp://host/'],
    ['baseUrl', 'no url'],
    ['command', 'node'],
    ['nonsense', 1],
  ])('refuses %s: %j, naming the field', async (field, value) => {
    await connections.ensureHttp('bounded');
    const errors = await connections.refused(400, 'validation_failed', 'bounded', { [field]: value });
    expect(errors).toEqual([{ path: field, message: expect.stringMatching(/\S/) }]);
  });

  it('keeps names and ids to one connection, as spelled', async () => {
    await connections.ensureHttp('taken', { name: 'Taken' });
    const other = await connections.send('POST', '', { ...http, id: 'Taken', name: 'TAKEN' });
    expect([other.status, other.body.id]).toEqual([201, 'Taken']);
    const conflicts: [string, string, unknown, string][] = [
      ['POST', '', { ...http, name: 'Taken' }, 'connection_name_conflict'],
      ['POST', '', { ...http, id: 'taken', name: 'Not Taken' }, 'connection_conflict'],
      ['PATCH', '/Taken', { name: 'Taken' }, 'connection_name_conflict'],
    ];
    for (const [method, path, body, code] of conflicts) {
      const answer = await connections.send(method, path, body);
      expect([answer.status, answer.body.code]).toEqual([409, code]);
    }
    for (const id of ['mod.x', 'export', 'import', '..', 'a b', 'a/b', 'x'.repeat(97)]) {
      const answer = await connections.send('POST', '', { ...http, id, name: `Named for ${id.slice(0, 9)}` });
      expect([id, answer.status, answer.body.code]).toEqual([id, 400, 'validation_failed']);
      expect(answer.body.errors).toMatchObject([{ path: 'id' }]);
    }
  });

  it('keeps its id and transport', async () => {
    await connections.ensureHttp('fixed');
    for (const [field, value] of [
      ['id', 'other'],
      ['transport', 'stdio'],
    ] as const) {
      const errors = await connections.refused(422, 'immutable_field', 'fixed', { [field]: value });
      expect(errors).toMatchObject([{ path: field }]);
    }
    expect(await connections.change('fixed', { id: 'fixed', transport: 'http' })).toMatchObject({ id: 'fixed' });
  });

  it('is gone once its deletion is answered, with all that hung on it', async () => {
    await connections.createStdio('doomed', { name: 'Doomed' });
    await connections.expect(200, 'POST', '/doomed/discover');
    const { api } = connections.warren;
    const tools = [{ connectionId: 'doomed', toolName: 'ok' }];
    await api.expect(201, 'POST', '/api/agents', { id: 'holder', name: 'Holder' });
    await api.expect(200, 'PUT', '/api/agents/holder/mcp-tools', { tools });
    const { live } = await connections.expect(200, 'POST', '/doomed/start');
    const pids = live.processes.map(({ pid }: { pid: number }) => pid);
    expect(pids).toHaveLength(1);

    expect(await connections.send('DELETE', '/doomed')).toMatchObject({ status: 204, body: undefined });
    for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    const gone: [string, string, unknown?][] = [
      ['GET', '/doomed'],
      ['PATCH', '/doomed', { name: 'x' }],
      ['DELETE', '/doomed'],
      ['GET', '/doomed/tools'],
      ['GET', '/doomed/events'],
      ['POST', '/doomed/start'],
      ['POST', '/doomed/stop'],
      ['POST', '/doomed/discover'],
    ];
    for (const [method, path, body] of gone) {
      const answer = await connections.send(method, path, body);
      expect([method, path, answer.status, answer.body.code]).toEqual([method, path, 404, 'connection_not_found']);
    }
    expect((await api.expect(200, 'GET', '/api/agents/holder/mcp-tools')).tools).toEqual([]);
    const { items } = await connections.expect(200, 'GET', '?query=doomed');
    expect(items).toEqual([]);
    // its id and name are free again, and nothing of it comes back
    expect(await connections.createStdio('doomed', { name: 'Doomed' })).toMatchObject({ catalog: null, revision: 1 });
    expect((await connections.expect(200, 'GET', '/doomed/events')).items).toEqual([]);
  });

  it('is found in lists, page by page', async () => {
    const all = await connections.expect(200, 'GET', '?limit=200');
    const ids: string[] = [];
    let cursor = '';
    do {
      const page = await connections.expect(200, 'GET', `?limit=3${cursor}`);
      ids.push(...page.items.map(({ id }: { id: string }) => id));
      cursor = page.nextCursor === null ? '' : `&cursor=${page.nextCursor}`;
    } while (cursor !== '');
    expect(ids).toEqual(all.items.map(({ id }: { id: string }) => id));
    for (const query of ['limit=0', 'limit=201', 'cursor=x', 'enabled=yes', 'state=odd', 'other=1']) {
      expect([query, (await connections.send('GET', `?${query}`)).status]).toEqual([query, 400]);
    }
  });
});
