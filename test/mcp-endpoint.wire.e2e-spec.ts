import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { menuTools } from '../src/runtime/menu.definitions.js';
import { receipt, startMcpServer, type McpTestServer } from './mcp-endpoint.server.js';
import { CALL, ENVELOPE, modern, posterTo, rpc, type Post } from './mcp-endpoint.messages.js';

let server: McpTestServer;
let post: Post;

beforeEach(async () => {
  server = await startMcpServer();
  post = posterTo(server.url);
});

afterEach(() => server.close());

describe('who may use /mcp', () => {
  it('refuses strangers and operators with a problem', async () => {
    const stranger = await fetch(server.url, { method: 'POST', body: '[]' });
    expect(stranger.status).toBe(401);
    const operator = await post(rpc(1, 'tools/list'), { 'x-agent': 'operator' });
    expect(operator).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    expect(operator.headers.get('content-type')).toContain('application/problem+json');
    // also where the body cannot be read
    const broken = await post('{', { 'x-agent': 'operator' });
    expect(broken).toMatchObject({ status: 400, body: { code: 'malformed_json' } });
    expect(broken.body).not.toHaveProperty('jsonrpc');
  });
});

describe('messages that are refused', () => {
  it.each([[[]], [[rpc(1, 'ping')]], [[{ jsonrpc: '2.0', method: 'notifications/initialized' }]]])(
    'B24: refuses the batch %j',
    async (batch) => {
      expect(await post(batch)).toMatchObject({ status: 400, body: { jsonrpc: '2.0', error: { code: -32_600 } } });
      expect((await post(batch, modern('ping')[1])).body.error.code).toBe(-32_600);
    },
  );

  it.each([[null], [1.5], [{}], [[]], [true], [2 ** 53]])('B25: refuses the id %j and echoes none', async (id) => {
    const { status, body } = await post(rpc(id, 'ping'));
    expect(status).toBe(400);
    expect(body.error.code).toBe(-32_600);
    expect('id' in body).toBe(false);
  });

  it.each([[0], ['0'], [-1], [''], ['1'], [1], ['ä\u0000']])('B25, B31: keeps the id %j and answers {}', async (id) => {
    const { status, text } = await post(rpc(id, 'ping'));
    expect(status).toBe(200);
    expect(JSON.parse(text)).toEqual({ jsonrpc: '2.0', id, result: {} });
  });

  it.each([
    [{}],
    [{ jsonrpc: '2.0', id: 1 }],
    [{ jsonrpc: '1.0', id: 1, method: 'ping' }],
    [{ jsonrpc: '2.0', id: 1, method: 5 }],
    [{ jsonrpc: '2.0', id: 1, method: 'ping', params: [] }],
    ['"text"'],
    ['null'],
    ['7'],
  ])('refuses %j, which is no message', async (body) => {
    expect(await post(body)).toMatchObject({ status: 400, body: { error: { code: -32_600 } } });
  });

  it('refuses broken JSON and bodies over the limit', async () => {
    const broken = await post('{"jsonrpc"');
    expect(broken).toMatchObject({ status: 400, body: { jsonrpc: '2.0', id: null, error: { code: -32_700 } } });
    expect(broken.headers.get('content-type')).toMatch(/^application\/json/);
    const large = await post(rpc(1, 'ping', { pad: 'x'.repeat(1_100_000) }));
    expect(large).toMatchObject({ status: 413, body: { jsonrpc: '2.0', id: null, error: { code: -32_000 } } });
  });

  it('answers an unknown method in-band, so that no client takes it for a lost session', async () => {
    const answer = await post(rpc(1, 'resources/list'), { 'mcp-session-id': 'some' });
    expect(answer).toMatchObject({ status: 200, body: { id: 1, error: { code: -32_601 } } });
  });

  it('refuses contradictions of the stateless revision', async () => {
    const [body, headers] = modern('tools/call', CALL);
    const { 'mcp-name': _, ...unnamed } = headers;
    expect(await post(body, unnamed)).toMatchObject({ status: 400, body: { id: 1, error: { code: -32_020 } } });
    expect((await post(body, { ...headers, 'mcp-method': 'tools/list' })).status).toBe(400);
    expect((await post(rpc(1, 'tools/list'), { 'mcp-protocol-version': '2026-07-28' })).status).toBe(400);
    expect(server.menu.used).toEqual([]);
  });
});

describe('media types', () => {
  it.each(['application/json', 'application/json; charset=utf-8', 'Application/JSON;charset="UTF-8"'])(
    'B26: takes %s',
    async (type) => {
      expect((await post(rpc(1, 'ping'), { 'content-type': type })).status).toBe(200);
    },
  );

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', 'application/xml'])(
    'B26: refuses %s',
    async (type) => {
      const refused = await post(rpc(1, 'ping'), { 'content-type': type });
      expect(refused).toMatchObject({ status: 415, body: { jsonrpc: '2.0', id: null, error: { code: -32_000 } } });
    },
  );

  it.each(['application/json', '*/*', '', 'text/html', 'application/json;q=0.5, text/event-stream;q=0'])(
    'answers JSON to Accept: %j, also to calls with a progress token',
    async (accept) => {
      server.menu.answer = async (_tool, _args, caller) => {
        caller.onProgress?.({ progress: 1 });
        return receipt({});
      };
      const answer = await post(rpc(1, 'tools/call', { ...CALL, _meta: { progressToken: 1 } }), { accept });
      expect(answer.body).toMatchObject({ id: 1, result: { content: [{ text: 'hello' }] } });
      expect(server.menu.used[0]?.caller.onProgress).toBeUndefined();
    },
  );

  it('answers events to those who read nothing else', async () => {
    const answer = await post(rpc(1, 'ping'), { accept: 'text/event-stream' });
    expect(answer.headers.get('content-type')).toBe('text/event-stream');
    expect(answer.text).toContain('event: message\ndata: {');
  });

  it('B34: keeps proxies from holding progress back', async () => {
    server.menu.answer = async (_tool, _args, caller) => {
      caller.onProgress?.({ progress: 0.5, message: 'half' });
      return receipt({});
    };
    for (const [body, headers] of [
      [rpc(1, 'tools/call', { ...CALL, _meta: { progressToken: 'p' } }), {}],
      [rpc(1, 'tools/call', { ...CALL, _meta: { ...ENVELOPE, progressToken: 'p' } }), modern('tools/call', CALL)[1]],
    ] as [unknown, Record<string, string>][]) {
      const answer = await post(body, headers);
      expect(answer.headers.get('x-accel-buffering')).toBe('no');
      expect(answer.headers.get('content-type')).toBe('text/event-stream');
      const messages = [...answer.text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data ?? ''));
      expect(messages).toMatchObject([
        { method: 'notifications/progress', params: { progressToken: 'p', progress: 0.5, message: 'half' } },
        { id: 1, result: { content: [{ text: 'hello' }] } },
      ]);
    }
  });
});

describe('methods and notifications', () => {
  it.each(['GET', 'DELETE'])('B28: answers %s with 405 and what is allowed', async (method) => {
    const headers = { 'x-agent': 'ada', accept: 'text/event-stream', 'mcp-session-id': 'some' };
    const answer = await fetch(server.url, { method, headers });
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe('POST');
  });

  it('B27: takes notifications and responses with 202 and an empty body', async () => {
    const versioned = { 'mcp-protocol-version': '2026-07-28' };
    for (const [message, headers] of [
      [{ jsonrpc: '2.0', method: 'notifications/initialized' }, {}],
      [{ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 9 } }, {}],
      [{ jsonrpc: '2.0', method: 'notifications/unheard-of' }, versioned],
      [{ jsonrpc: '2.0', id: 1, result: {} }, {}],
    ] as [unknown, Record<string, string>][]) {
      expect(await post(message, headers)).toMatchObject({ status: 202, text: '' });
    }
  });
});

describe('the handshake of older revisions', () => {
  const initialize = (protocolVersion: string): Record<string, unknown> =>
    rpc(1, 'initialize', { protocolVersion, capabilities: {}, clientInfo: { name: 'test', version: '1' } });

  it.each(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])('agrees on %s', async (version) => {
    const { status, body, headers } = await post(initialize(version));
    expect(status).toBe(200);
    expect(body.result).toMatchObject({ protocolVersion: version, serverInfo: { name: 'warren' } });
    expect(body.result.capabilities).toEqual({ tools: { listChanged: false } });
    const sessionId = headers.get('mcp-session-id') ?? '';
    expect(sessionId).toMatch(/^[\x21-\x7e]{20,}$/);
    const listed = await post(rpc(2, 'tools/list'), { 'mcp-session-id': sessionId, 'mcp-protocol-version': version });
    expect(listed.text).toContain(JSON.stringify({ tools: menuTools }));
    expect(listed.headers.get('mcp-session-id')).toBeNull();
  });

  it('offers its newest older revision for an unknown one', async () => {
    expect((await post(initialize('2023-01-01'))).body.result.protocolVersion).toBe('2025-11-25');
  });

  it('B29: ignores a stale session id and issues a fresh one', async () => {
    const stale = { 'mcp-session-id': 'stale', 'mcp-protocol-version': '2023-01-01' };
    const first = await post(initialize('2025-06-18'), stale);
    const second = await post(initialize('2025-06-18'), stale);
    expect([first.status, second.status]).toEqual([200, 200]);
    const ids = [first, second].map(({ headers }) => headers.get('mcp-session-id'));
    expect(new Set([...ids, 'stale', null]).size).toBe(4);
  });

  it('serves requests with any session id or none, and refuses a version header it does not know', async () => {
    expect((await post(rpc(1, 'tools/list'))).status).toBe(200);
    expect((await post(rpc(1, 'tools/list'), { 'mcp-session-id': 'unheard-of' })).status).toBe(200);
    const unknown = await post(rpc(7, 'tools/list'), { 'mcp-protocol-version': '2023-01-01' });
    expect(unknown).toMatchObject({ status: 400, body: { id: 7, error: { code: -32_000 } } });
  });

  it('B32: lists exactly the three tools, without nextCursor', async () => {
    expect((await post(rpc(1, 'tools/list', { cursor: 'x' }))).body.result).toEqual({ tools: menuTools });
  });
});

describe('the stateless revision', () => {
  it('describes itself, privately cacheable', async () => {
    const { status, body } = await post(...modern('server/discover'));
    expect(status).toBe(200);
    expect(body.result).toMatchObject({
      resultType: 'complete',
      supportedVersions: ['2026-07-28'],
      capabilities: { tools: { listChanged: false } },
      cacheScope: 'private',
      ttlMs: 3_600_000,
      instructions: expect.stringContaining('mcp_capabilities'),
    });
  });

  it('lists the tools with the same bytes and gives no session id', async () => {
    const answer = await post(...modern('tools/list'));
    expect(answer.text).toContain(`"tools":${JSON.stringify(menuTools)}`);
    expect(answer.body.result).toMatchObject({ resultType: 'complete', cacheScope: 'private', ttlMs: 3_600_000 });
    expect('nextCursor' in answer.body.result).toBe(false);
    expect(answer.headers.get('mcp-session-id')).toBeNull();
  });
});

describe('arguments that are no object', () => {
  it.each([['{"provider":"files"}'], [null], [[1]], [7]])(
    '%j reaches the menu, which knows what to say',
    async (args) => {
      const legacy = rpc(1, 'tools/call', { name: 'mcp_call', arguments: args });
      expect((await post(legacy)).body.result.content).toHaveLength(1);
      expect((await post(...modern('tools/call', { name: 'mcp_call', arguments: args }))).status).toBe(200);
      expect(server.menu.used.map((used) => used.args)).toEqual([args, args]);
    },
  );
});
