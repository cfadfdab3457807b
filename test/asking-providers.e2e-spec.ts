import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { EventEmitter, once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { eventually } from './support/eventually.js';
import { MenuBench } from './support/menu-bench.js';
import { temporaryDataDirectory } from './support/temporary-data-directory.js';

/** What both pipes, their ends and one reading may hold, several times over; far from what a provider may ask. */
const MOST_TAKEN = 25_000;
const WIDE_MS = 20_000;

let bench: MenuBench;

beforeAll(async () => {
  bench = await MenuBench.start();
  await bench.agent('demo', []);
});

afterAll(() => bench.stop());

describe('a process that asks faster than it listens', () => {
  const log = join(temporaryDataDirectory(), 'asked.log');
  const asked = (): number => Number(readFileSync(log, 'utf8').trim().split('\n').at(-1));
  const ask = (args: object) => bench.call('demo', { provider: 'asking', tool: 'ask', arguments: args });

  beforeAll(async () => {
    const args = [resolve('test/providers/asking-provider.mjs'), log];
    await bench.connect('asking', { args, environmentVariables: [] });
    await bench.connect('other');
    await bench.grant('demo', { add: ['asking/ask', 'asking/ok', 'other/ok'] });
  });

  it('is answered in full as soon as it listens', async () => {
    expect(await ask({ count: 20_000, deafMs: 300 })).toMatchObject({ ok: true, content: [{ text: '20000' }] });
    expect(asked()).toBe(20_000);
  });

  it('is not read while it does not listen; its call ends by its deadline, and others go on', async () => {
    await bench.change('asking', { callTimeoutMs: 2_000 });
    const call = ask({ count: 1_000_000 });
    expect(await bench.call('demo', { provider: 'other', tool: 'ok' })).toMatchObject({ ok: true });
    expect(await call).toMatchObject({ ok: false, error: { code: 'mcp_call_timeout', sent: 'maybe' } });
    expect(asked()).toBeGreaterThan(100);
    expect(asked()).toBeLessThan(MOST_TAKEN);
    await bench.api.expect(200, 'POST', '/api/connections/asking/stop');
    expect(await bench.call('demo', { provider: 'asking', tool: 'ok' })).toMatchObject({ ok: true });
  });
});

/** Sends pings before it answers a call, on the call's own stream; accepts at once only the answer to `spare`. */
class AskingServer {
  count = 0;
  spare: string | undefined;
  /** The most answers that ever waited to be accepted. */
  most = 0;
  readonly events = new EventEmitter<{ spared: [] }>();
  readonly waiting = new Set<ServerResponse>();
  private readonly server: Server = createServer((request, response) => void this.serve(request, response));

  async start(): Promise<string> {
    await once(this.server.listen(0, '127.0.0.1'), 'listening');
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/mcp`;
  }

  stop(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  /** Accepts what waits. */
  takeAll(): void {
    for (const response of this.waiting) response.writeHead(202).end();
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString());
    if (method === undefined) return this.take(id, response);
    if (id === undefined) return void response.writeHead(202).end();
    const message = (result: unknown): string => JSON.stringify({ jsonrpc: '2.0', id, result });
    if (method === 'tools/call') {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      await this.ask(response);
      return void response.end(`data: ${message({ content: [{ type: 'text', text: 'asked' }] })}\n\n`);
    }
    const serverInfo = { name: 'asking', version: '1.0.0' };
    const results: Record<string, unknown> = {
      initialize: { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo },
      'tools/list': { tools: [{ name: 'ask', inputSchema: { type: 'object' } }] },
    };
    if (results[method] === undefined) return void response.writeHead(400).end();
    response.writeHead(200, { 'content-type': 'application/json' }).end(message(results[method]));
  }

  private take(id: unknown, response: ServerResponse): void {
    if (id === this.spare) {
      response.writeHead(202).end();
      return void this.events.emit('spared');
    }
    this.waiting.add(response);
    this.most = Math.max(this.most, this.waiting.size);
    response.once('close', () => this.waiting.delete(response));
  }

  private async ask(response: ServerResponse): Promise<void> {
    const ping = (id: string) => response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' })}\n\n`);
    for (let sent = 0; sent < this.count; sent += 1) {
      if (!ping(`ping-${sent}`)) await once(response, 'drain');
    }
    const { spare } = this;
    if (spare === undefined) return;
    const taken = once(this.events, 'spared');
    ping(spare);
    await taken;
  }
}

describe('an HTTP provider that asks more than it takes answers', () => {
  const server = new AskingServer();
  const ask = () => bench.call('demo', { provider: 'asking-http', tool: 'ask', arguments: {} });

  beforeAll(async () => {
    const stdio = { command: undefined, args: undefined, environmentVariables: undefined };
    await bench.connect('asking-http', { ...stdio, transport: 'http', baseUrl: await server.start() });
    await bench.grant('demo', { add: ['asking-http/ask'] });
  });

  afterAll(() => server.stop());

  it('is answered no more while many answers wait, and its call is not hurt', async () => {
    server.count = 10_000;
    expect(await ask()).toMatchObject({ ok: true, content: [{ text: 'asked' }] });
    expect(server.most).toBeGreaterThan(1);
    expect(server.most).toBeLessThanOrEqual(16);
  });

  it('is answered again once it has taken those', async () => {
    server.takeAll();
    await eventually(() => expect(server.waiting.size).toBe(0), WIDE_MS);
    server.count = 0;
    server.spare = 'again';
    const taken = once(server.events, 'spared');
    expect(await ask()).toMatchObject({ ok: true, content: [{ text: 'asked' }] });
    await taken;
  });
});
