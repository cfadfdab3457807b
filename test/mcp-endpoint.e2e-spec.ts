import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Client as NewClient, StreamableHTTPClientTransport as NewTransport } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ProblemError } from '../src/errors.js';
import { menuTools } from '../src/runtime/menu.definitions.js';
import { CANCELLED, EndlessCall, receipt, startMcpServer, type McpTestServer } from './mcp-endpoint.server.js';

interface Progress {
  progress: number;
  total?: number;
  message?: string;
}

/** What the tests ask of a client, whichever SDK it comes from. */
interface TestClient {
  listTools(): Promise<{ tools: unknown[]; nextCursor?: string | undefined }>;
  call(
    name: string,
    args: Record<string, unknown>,
    options?: { signal?: AbortSignal; onprogress?: (progress: Progress) => void },
  ): Promise<Record<string, unknown>>;
  instructions(): string | undefined;
  close(): Promise<void>;
}

let server: McpTestServer;
const open: { close(): Promise<void> }[] = [];

beforeEach(async () => {
  server = await startMcpServer();
});

afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.close()));
  await server.close();
});

const INFO = { name: 'test', version: '1' };

function headersOf(agent: string): { requestInit: { headers: Record<string, string> } } {
  return { requestInit: { headers: { 'x-agent': agent } } };
}

async function connectOld(agent: string): Promise<TestClient> {
  const client = new OldClient(INFO);
  await client.connect(new OldTransport(server.url, headersOf(agent)));
  open.push(client);
  return {
    listTools: () => client.listTools(),
    call: (name, args, options) => client.callTool({ name, arguments: args }, undefined, options),
    instructions: () => client.getInstructions(),
    close: () => client.close(),
  };
}

function connectNew(mode: 'legacy' | 'auto' | { pin: '2026-07-28' }) {
  return async (agent: string): Promise<TestClient> => {
    const client = new NewClient(INFO, { versionNegotiation: { mode } });
    await client.connect(new NewTransport(server.url, headersOf(agent)));
    open.push(client);
    return {
      listTools: () => client.listTools(),
      call: (name, args, options) => client.callTool({ name, arguments: args }, options),
      instructions: () => client.getInstructions(),
      close: () => client.close(),
    };
  };
}

const clients: [string, 'legacy' | 'modern', (agent: string) => Promise<TestClient>][] = [
  ['SDK 1', 'legacy', connectOld],
  ['SDK 2 with a handshake', 'legacy', connectNew('legacy')],
  ['SDK 2 pinned to 2026-07-28', 'modern', connectNew({ pin: '2026-07-28' })],
  ['SDK 2 that finds out', 'modern', connectNew('auto')],
];

describe.each(clients)('%s', (_name, era, connect) => {
  it('lists the three tools byte for byte, without a cursor, and is told where to start', async () => {
    const client = await connect('ada');
    const list = await client.listTools();
    expect(JSON.stringify(list.tools)).toBe(JSON.stringify(menuTools));
    expect('nextCursor' in list).toBe(false);
    expect(client.instructions()).toMatch(/^Start with mcp_capabilities/);
  });

  it('hands arguments to the menu unchanged, with who asks, and the result back', async () => {
    const client = await connect('ada');
    const structuredContent = { rows: [], next: null };
    server.menu.answer = async () => receipt({ structuredContent });
    const args = { provider: 'files', tool: 'read', arguments: { a: null, b: '', c: [null, 0, {}], d: '\u0000' } };
    const result = await client.call('mcp_call', args);
    expect(result).toMatchObject({
      content: [{ type: 'text', text: 'hello' }],
      structuredContent,
      _meta: { 'warren/callId': 'call-1', 'warren/protection': { status: 'clean' } },
    });
    expect(result['isError'] ?? false).toBe(false);
    const [used] = server.menu.used;
    expect(used).toMatchObject({ tool: 'mcp_call', args, caller: { agentId: 'ada' } });
    expect(used?.caller.principal).toMatchObject({ kind: 'agent', agentId: 'ada' });
    expect(used?.caller.onProgress).toBeUndefined();
    expect(server.inFlight.size).toBe(0);
  });

  it('carries structured content that is no object as its era can', async () => {
    const client = await connect('ada');
    server.menu.answer = async () => receipt({ structuredContent: [1, 2] });
    const result = await client.call('mcp_call', {});
    const hello = { type: 'text', text: 'hello' };
    const { content, structuredContent } = result;
    expect({ content, structuredContent }).toEqual(
      era === 'modern'
        ? { content: [hello], structuredContent: [1, 2] }
        : { content: [hello, { type: 'text', text: '[1,2]' }] },
    );
  });

  it('reports a failed call as a tool error', async () => {
    const client = await connect('ada');
    server.menu.answer = async () => CANCELLED;
    const result = await client.call('mcp_call', {});
    expect(result['isError']).toBe(true);
    const [first] = result['content'] as { text: string }[];
    expect(JSON.parse(first?.text ?? '')).toMatchObject({ code: 'mcp_call_cancelled', sent: 'maybe' });
  });

  it('names the three tools when another is called', async () => {
    const client = await connect('ada');
    await expect(client.call('read_file', {})).rejects.toMatchObject({
      code: -32_602,
      message: expect.stringContaining('mcp_providers, mcp_capabilities, mcp_call'),
    });
    expect(server.menu.used).toEqual([]);
  });

  it('says what is wrong with this server without its inside', async () => {
    const client = await connect('ada');
    server.menu.answer = () => Promise.reject(new Error('select * from secrets'));
    const failed = client.call('mcp_call', {});
    await expect(failed).rejects.toMatchObject({ code: -32_603, data: { code: 'internal_error' } });
    await expect(failed).rejects.not.toThrow(/secrets/);
    server.menu.answer = () => Promise.reject(new ProblemError('database_unavailable', 'The database is away.'));
    await expect(client.call('mcp_call', {})).rejects.toThrow('The database is away.');
    expect(server.inFlight.size).toBe(0);
  });

  it('relays progress to a client that asked for it', async () => {
    const client = await connect('ada');
    server.menu.answer = async (_tool, _args, caller) => {
      for (const progress of [1, 2, 3]) caller.onProgress?.({ progress, total: 3, message: `step ${progress}` });
      return receipt({});
    };
    const seen: Progress[] = [];
    const result = await client.call('mcp_call', {}, { onprogress: (progress) => seen.push(progress) });
    expect(result['content']).toEqual([{ type: 'text', text: 'hello' }]);
    expect(seen).toEqual([1, 2, 3].map((progress) => ({ progress, total: 3, message: `step ${progress}` })));
  });

  it('cancels exactly the call that the client gave up', async () => {
    const [client, other] = [await connect('ada'), await connect('ada')];
    const [kept, given] = [new EndlessCall(), new EndlessCall()];
    server.menu.answer = kept.use;
    const finishing = new AbortController();
    const keptCall = other.call('mcp_call', {}, { signal: finishing.signal }).catch(() => 'kept call ended');
    await kept.running;
    server.menu.answer = given.use;
    const giveUp = new AbortController();
    const result = client.call('mcp_call', {}, { signal: giveUp.signal });
    await given.running;
    expect(server.inFlight.size).toBe(2);
    giveUp.abort();
    await expect(result).rejects.toThrow(/abort/i);
    await given.aborted;
    // the first call of both clients has the same request id
    expect(kept.isAborted).toBe(false);
    finishing.abort();
    await kept.aborted;
    expect(await keptCall).toBe('kept call ended');
    server.menu.answer = async () => receipt({});
    expect(await client.call('mcp_call', {})).toMatchObject({ content: [{ text: 'hello' }] });
    expect(server.inFlight.size).toBe(0);
  });

  it('cancels the calls of a client that leaves', async () => {
    const client = await connect('ada');
    const call = new EndlessCall();
    server.menu.answer = call.use;
    const result = client.call('mcp_call', {}).catch(() => 'ended');
    const caller = await call.running;
    await client.close();
    await call.aborted;
    expect(caller.signal.reason).toMatchObject({ why: 'disconnected' });
    expect(await result).toBe('ended');
    expect(server.inFlight.size).toBe(0);
  });

  it('serves many calls at once', async () => {
    const client = await connect('ada');
    server.menu.answer = async (_tool, args) => receipt({ content: [{ type: 'text', text: JSON.stringify(args) }] });
    const results = await Promise.all(
      Array.from({ length: 100 }, (_, index) => client.call('mcp_call', { provider: String(index) })),
    );
    const texts = results.map((result) => (result['content'] as { text: string }[])[0]?.text);
    expect(texts).toEqual(Array.from({ length: 100 }, (_, index) => `{"provider":"${index}"}`));
  });
});
