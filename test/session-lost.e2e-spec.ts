import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MenuBench } from './support/menu-bench.js';

interface Message {
  id?: number;
  method?: string;
  params?: { protocolVersion?: string };
}

/** An HTTP provider that forgets its session after so many calls; at 0 it answers every call with 404. */
class ForgetfulProvider {
  initializations = 0;
  calls = 0;
  private left = 0;
  private readonly server: Server = createServer((request, response) => void this.serve(request, response));

  constructor(private readonly callsPerSession: number) {}

  async start(): Promise<string> {
    await once(this.server.listen(0, '127.0.0.1'), 'listening');
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/mcp`;
  }

  stop(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const message = JSON.parse(Buffer.concat(chunks).toString()) as Message;
    const answer = (result: unknown): void => {
      const headers = { 'content-type': 'application/json', 'mcp-session-id': `s${this.initializations}` };
      response.writeHead(200, headers).end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }));
    };
    if (message.method === 'initialize') {
      this.initializations += 1;
      this.left = this.callsPerSession;
      const serverInfo = { name: 'forgetful', version: '1.0.0' };
      answer({ protocolVersion: message.params?.protocolVersion, capabilities: { tools: {} }, serverInfo });
    } else if (request.headers['mcp-session-id'] === undefined) response.writeHead(400).end();
    else if (request.headers['mcp-session-id'] !== `s${this.initializations}`) response.writeHead(404).end();
    else if (message.id === undefined) response.writeHead(202).end();
    else if (message.method === 'tools/list') answer({ tools: [{ name: 'n', inputSchema: { type: 'object' } }] });
    else {
      this.calls += 1;
      if (this.left === 0) return void response.writeHead(404).end();
      this.left -= 1;
      answer({ content: [{ type: 'text', text: 'ok' }] });
    }
  }
}

describe('a provider that forgets its session', () => {
  let bench: MenuBench;
  const providers: ForgetfulProvider[] = [];

  beforeAll(async () => {
    bench = await MenuBench.start();
  });

  afterAll(async () => {
    await bench.stop();
    for (const provider of providers) provider.stop();
  });

  async function connect(id: string, callsPerSession: number, lifecycle: string): Promise<ForgetfulProvider> {
    const provider = new ForgetfulProvider(callsPerSession);
    providers.push(provider);
    const baseUrl = await provider.start();
    const body = { id, name: id, transport: 'http', baseUrl, lifecycle };
    await bench.api.expect(201, 'POST', '/api/connections?discover=true', body);
    await bench.agent(`agent-${id}`, [`${id}/n`]);
    return provider;
  }

  const call = (id: string) => bench.call(`agent-${id}`, { provider: id, tool: 'n', arguments: {} });

  it('is given a new session, and the call that met the loss is sent once more', async () => {
    const provider = await connect('forgets', 2, 'keep_alive');
    for (let number = 0; number < 5; number += 1) expect(await call('forgets')).toMatchObject({ ok: true });
    expect([provider.initializations, provider.calls]).toEqual([3, 7]);
  });

  it.each(['keep_alive', 'ephemeral'])('is not asked a third time: %s', async (lifecycle) => {
    const id = lifecycle.replace('_', '-');
    const provider = await connect(id, 0, lifecycle);
    const before = provider.initializations;
    expect(await call(id)).toMatchObject({ ok: false, error: { code: 'mcp_call_interrupted', sent: 'maybe' } });
    expect(provider.calls).toBe(2);
    expect(provider.initializations - before).toBeLessThanOrEqual(2);
  });
});

type Refusal = (id: unknown) => string;

const error = (id: unknown, code: number, message: string): string =>
  JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id });

/** Where the session is unknown it refuses every request with HTTP 400; so it does a call of `odd`, in its own words. */
class RefusingProvider {
  readonly calls: string[] = [];
  initializations = 0;
  private known = true;
  private readonly server: Server = createServer((request, response) => void this.serve(request, response));

  constructor(
    private readonly unknown: Refusal,
    private readonly odd: Refusal,
  ) {}

  async start(): Promise<string> {
    await once(this.server.listen(0, '127.0.0.1'), 'listening');
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/mcp`;
  }

  stop(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  forget(): void {
    this.known = false;
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const message = JSON.parse(Buffer.concat(chunks).toString()) as Message & { params?: { name?: string } };
    const { id, method, params } = message;
    const headers = { 'content-type': 'application/json', 'mcp-session-id': `s${this.initializations}` };
    const answer = (result: unknown): unknown =>
      response.writeHead(200, headers).end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    if (method === 'initialize') {
      this.initializations += 1;
      this.known = true;
      headers['mcp-session-id'] = `s${this.initializations}`;
      const serverInfo = { name: 'refusing', version: '1.0.0' };
      return void answer({ protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo });
    }
    if (method === 'tools/call') this.calls.push(params?.name ?? '');
    const named = request.headers['mcp-session-id'];
    if (!this.known || named !== `s${this.initializations}`) {
      return void response.writeHead(400, headers).end(this.unknown(id));
    }
    if (id === undefined) return void response.writeHead(202).end();
    if (method === 'tools/list') {
      return void answer({ tools: ['n', 'odd'].map((name) => ({ name, inputSchema: { type: 'object' } })) });
    }
    if (params?.name === 'n') return void answer({ content: [{ type: 'text', text: 'ok' }] });
    // it knows no ping, but that is in order
    const refusal = method === 'ping' ? error(id, -32_601, 'Method not found') : this.odd(id);
    response.writeHead(400, headers).end(refusal);
  }
}

describe('a provider that refuses with HTTP 400', () => {
  let bench: MenuBench;
  const providers: RefusingProvider[] = [];

  beforeAll(async () => {
    bench = await MenuBench.start();
  });

  afterAll(async () => {
    await bench.stop();
    for (const provider of providers) provider.stop();
  });

  async function connect(id: string, unknown: Refusal, odd: Refusal, lifecycle = 'keep_alive') {
    const provider = new RefusingProvider(unknown, odd);
    providers.push(provider);
    const body = { id, name: id, transport: 'http', baseUrl: await provider.start(), lifecycle };
    await bench.api.expect(201, 'POST', '/api/connections?discover=true', body);
    await bench.agent(`agent-${id}`, [`${id}/n`, `${id}/odd`]);
    const call = (tool: string) => bench.call(`agent-${id}`, { provider: id, tool, arguments: {} });
    return { provider, call };
  }

  const noSession: [name: string, refusal: Refusal][] = [
    ['to-nobody', () => error(null, -32_000, 'Bad Request: No valid session ID provided')],
    ['not-initialized', () => error(null, -32_000, 'Bad Request: Server not initialized')],
    ['of-its-own', () => error('server-error', -32_600, 'Bad Request: Missing session ID')],
    ['to-the-call', (id) => error(id, -32_000, 'Session not found')],
    ['in-words', () => 'Invalid session'],
    ['as-json', () => '{"error":"unknown"}'],
    ['empty', () => ''],
  ];

  it.each(noSession)(
    'because it no longer knows the session gets the next call on a new one, and none twice: %s',
    async (id, refusal) => {
      const { provider, call } = await connect(id, refusal, refusal);
      expect(await call('n')).toMatchObject({ ok: true });
      const before = [provider.initializations, provider.calls.length] as const;
      provider.forget();
      expect(await call('n')).toMatchObject({ ok: false, error: { code: 'mcp_call_interrupted', sent: 'maybe' } });
      expect(provider.calls).toHaveLength(before[1] + 1);
      expect(await call('n')).toMatchObject({ ok: true });
      expect([provider.initializations, provider.calls.length]).toEqual([before[0] + 1, before[1] + 2]);
    },
  );

  it('gets its tools listed on a new session at once', async () => {
    const { provider } = await connect('listed', () => 'Invalid session', String);
    const before = provider.initializations;
    provider.forget();
    expect(await bench.api.expect(200, 'POST', '/api/connections/listed/discover')).toMatchObject({ toolCount: 2 });
    expect(provider.initializations).toBe(before + 1);
  });

  const ownWords: [name: string, refusal: Refusal][] = [
    ['invalid', (id) => error(id, -32_602, 'Invalid params')],
    ['own-session', (id) => error(id, -32_000, 'Session not found: no such tab')],
    ['page', () => '<html>Bad Request</html>'],
    ['nobodys', () => error(null, -32_700, 'Parse error')],
  ];

  it.each(ownWords)('because of the call keeps the session of all: %s', async (id, refusal) => {
    const { provider, call } = await connect(id, () => 'Invalid session', refusal);
    expect(await call('n')).toMatchObject({ ok: true });
    const before = provider.initializations;
    for (let count = 0; count < 3; count += 1) expect(await call('odd')).toMatchObject({ ok: false });
    expect(await call('n')).toMatchObject({ ok: true });
    expect(provider.initializations).toBe(before);
    expect(provider.calls.filter((tool) => tool === 'odd')).toHaveLength(3);
  });
});
