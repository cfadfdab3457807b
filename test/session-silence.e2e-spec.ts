import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type JsonRpcServer, startJsonRpcServer } from './support/json-rpc-server.js';
import { eventually, MenuBench } from './support/menu-bench.js';

/** How a provider that left a call without an answer replies to the question for a sign of life, and what becomes of its session. */
const PINGS = {
  answers: { reply: { result: {} }, handshakes: 1 },
  'has no such method': { reply: { error: { code: -32_601, message: 'Method not found' } }, handshakes: 1 },
  'wants fewer requests': { reply: { error: { code: 1, message: 'slow down' }, status: 429 }, handshakes: 1 },
  'is out of service': { reply: { error: { code: 1, message: 'down' }, status: 503 }, handshakes: 2 },
  'stays silent': { reply: undefined, handshakes: 2 },
};

describe('a remote provider that leaves a call without an answer', () => {
  let bench: MenuBench;
  const servers: JsonRpcServer[] = [];

  beforeAll(async () => {
    bench = await MenuBench.start({ WARREN_ALLOW_PRIVATE_NETWORKS: '127.0.0.1' });
  });

  afterAll(async () => {
    await bench.stop();
    for (const server of servers) await server.stop();
  });

  it.each(Object.entries(PINGS))('and then %s', async (_name, { reply, handshakes }) => {
    const id = `p${servers.length}`;
    const seen = { initialize: 0, ping: 0 };
    const server = await startJsonRpcServer(({ method, params }) => {
      switch (method) {
        case 'initialize':
          seen.initialize += 1;
          return {
            result: {
              protocolVersion: params?.['protocolVersion'],
              capabilities: { tools: {} },
              serverInfo: { name: 'silent', version: '1.0.0' },
            },
          };
        case 'tools/list':
          return { result: { tools: ['ok', 'silent'].map((name) => ({ name, inputSchema: { type: 'object' } })) } };
        case 'tools/call':
          return params?.['name'] === 'ok' ? { result: { content: [{ type: 'text', text: 'ok' }] } } : undefined;
        case 'ping':
          seen.ping += 1;
          return reply;
        default:
          return { error: { code: -32_601, message: 'Method not found' }, status: 400 };
      }
    });
    servers.push(server);
    await bench.connect(id, { transport: 'http', baseUrl: server.url, ...ENDPOINT, connectTimeoutMs: 1_000 });
    await bench.agent(`a-${id}`, [`${id}/ok`, `${id}/silent`]);
    const call = (tool: string) => bench.call(`a-${id}`, { provider: id, tool });
    expect(await call('ok')).toMatchObject({ ok: true });
    expect(seen).toEqual({ initialize: 1, ping: 0 });
    await bench.change(id, { callTimeoutMs: 1_000 });
    expect(await call('silent')).toMatchObject({ ok: false, error: { code: 'mcp_call_timeout', sent: 'maybe' } });
    await eventually(async () => (seen.ping === 1 && seen.initialize === handshakes) || undefined);
    await eventually(async () => ((await stateOf(id)) === 'connected' ? true : undefined));
    expect(await call('ok')).toMatchObject({ ok: true });
    expect(seen.initialize).toBe(handshakes);
  });

  const stateOf = async (id: string): Promise<string> =>
    (await bench.api.expect(200, 'GET', `/api/connections/${id}`)).live.state;
});

/** The bench connects to a process unless told otherwise. */
const ENDPOINT = { command: undefined, args: undefined, environmentVariables: undefined };
