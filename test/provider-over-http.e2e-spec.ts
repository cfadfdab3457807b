import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from './support/eventually.js';
import { startJsonRpcServer, type JsonRpcReply, type JsonRpcServer } from './support/json-rpc-server.js';
import { createAgent } from './support/real-providers.js';
import { startWarren, type TestWarren } from './support/warren.js';

const unknown: JsonRpcReply = { status: 404, error: { code: -32_601, message: 'Method not found' } };
const text = (value: string) => ({ content: [{ type: 'text', text: value }] });

describe('a provider over HTTP', () => {
  let warren: TestWarren;
  let provider: JsonRpcServer;

  beforeAll(async () => {
    warren = await startWarren();
  });

  afterEach(async () => {
    await provider.stop();
  });

  afterAll(async () => {
    await warren.stop();
  });

  const connect = (id: string) =>
    warren.api.expect(201, 'POST', '/api/connections?discover=true', {
      id,
      name: id,
      transport: 'http',
      baseUrl: provider.url,
      lifecycle: 'keep_alive',
      callTimeoutMs: 5_000,
    });

  it.each(['application/json', 'text/event-stream'] as const)(
    'may say null for what is absent, as %s',
    async (type) => {
      provider = await startJsonRpcServer(({ method, params }) => {
        switch (method) {
          case 'initialize': {
            const capabilities = { tools: { listChanged: null }, experimental: null };
            const serverInfo = { name: 'nulls', version: '1', title: null };
            const said = { capabilities, serverInfo, instructions: null, _meta: null };
            return { result: { protocolVersion: params?.['protocolVersion'], ...said } };
          }
          case 'tools/list': {
            const tool = { name: 'plain', description: null, inputSchema: { type: 'object', properties: null } };
            return { result: { tools: [tool], nextCursor: null, _meta: null } };
          }
          case 'tools/call':
            return { result: { ...text('fine'), structuredContent: null, isError: null, _meta: null } };
          default:
            return unknown;
        }
      }, type);
      const id = `nulls-${type.replace('/', '.')}`;
      expect(await connect(id)).toMatchObject({ catalog: { toolCount: 1, serverName: 'nulls' } });
      const agent = await createAgent(warren.api, id, { [id]: ['plain'] });
      const call = { provider: id, tool: 'plain' };
      expect(await agent.expect(200, 'POST', `/api/agents/${id}/menu/mcp_call`, call)).toMatchObject({
        ok: true,
        content: [{ text: 'fine' }],
      });
    },
  );

  it.each(['application/json', 'text/event-stream'] as const)(
    'that answers something else than was asked is told of at once, as %s',
    async (type) => {
      const protocolVersion = '2025-06-18';
      provider = await startJsonRpcServer(({ method }) => {
        switch (method) {
          case 'initialize':
            return {
              result: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'odd', version: '1' } },
            };
          case 'tools/list':
            return { result: { tools: [{ name: 'odd', inputSchema: { type: 'object' } }] } };
          case 'tools/call':
            return { result: text('of somebody else'), id: 987_654 };
          default:
            return unknown;
        }
      }, type);
      const id = `odd-${type.replace('/', '.')}`;
      await connect(id);
      const agent = await createAgent(warren.api, id, { [id]: ['odd'] });
      const receipt = await agent.expect(200, 'POST', `/api/agents/${id}/menu/mcp_call`, { provider: id, tool: 'odd' });
      const code = type === 'application/json' ? 'mcp_protocol_error' : 'mcp_call_interrupted';
      expect(receipt.error).toMatchObject({ code });
      expect(receipt.error.sent).not.toBe('no');
      expect(receipt.durationMs).toBeLessThan(4_000);
    },
  );

  it('that wants a parameter in a header since its catalog was read is asked anew, and the caller told', async () => {
    let annotated = false;
    const arrived: (string | undefined)[] = [];
    provider = await startJsonRpcServer(({ method, params }, headers) => {
      const complete = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };
      switch (method) {
        case 'server/discover': {
          const serverInfo = { name: 'routed', version: '1' };
          return {
            result: { ...complete, supportedVersions: ['2026-07-28'], capabilities: { tools: {} }, serverInfo },
          };
        }
        case 'tools/list': {
          const region = { type: 'string', ...(annotated ? { 'x-mcp-header': 'Region' } : {}) };
          const inputSchema = { type: 'object', properties: { region } };
          return { result: { ...complete, tools: [{ name: 'route', inputSchema }] } };
        }
        case 'tools/call': {
          const header = headers['mcp-param-region'] as string | undefined;
          arrived.push(header);
          if (annotated && header !== params?.['arguments'].region) {
            return { status: 400, error: { code: -32_020, message: 'Header mismatch' } };
          }
          return { result: { ...complete, ...text('routed') } };
        }
        default:
          return unknown;
      }
    });
    await connect('routed');
    const agent = await createAgent(warren.api, 'routed', { routed: ['route'] });
    const call = () =>
      agent.expect(200, 'POST', '/api/agents/routed/menu/mcp_call', {
        provider: 'routed',
        tool: 'route',
        arguments: { region: 'eu' },
      });
    expect(await call()).toMatchObject({ ok: true });
    annotated = true;
    expect(await call()).toMatchObject({
      ok: false,
      error: { code: 'mcp_tool_failed', sent: 'yes', retryable: true, hint: expect.stringMatching(/has changed/) },
    });
    await eventually(async () => {
      expect((await warren.api.expect(200, 'GET', '/api/connections/routed')).catalog.revision).toBe(2);
    }, 20_000);
    expect(await call()).toMatchObject({ ok: true });
    // nothing was sent twice by itself
    expect(arrived).toEqual([undefined, undefined, 'eu']);
  });
});
