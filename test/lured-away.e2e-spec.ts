import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { startWarren, type TestWarren } from './support/warren.js';

/** Saved for the provider, and for nobody else. */
const SECRET = 'header-of-the-provider-only';

/** Whoever comes here was lured; addresses of this machine are allowed, so only the origin keeps Warren away. */
class Canary {
  visits: string[] = [];
  private readonly server = createServer((request, response) => {
    this.visits.push(`${request.method} ${request.url}`);
    response.end('{}');
  });

  async start(): Promise<number> {
    await once(this.server.listen(0), 'listening');
    return (this.server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await once(this.server.close(), 'close');
  }
}

/** A provider of 2024-11-05: one stream, whose first event names where messages go. */
class OldProvider {
  /** What the first event names, and what one names that comes with the answer to `initialize`. */
  endpoints: { first: string; later?: string } = { first: '/messages' };
  /** Where a POST is redirected to. */
  redirect: string | undefined;
  /** Answers everything with this header and 401. */
  challenge: string | undefined;
  methods: string[] = [];
  private stream: ServerResponse | undefined;
  private readonly server: Server = createServer((request, response) => void this.answer(request, response));

  async start(): Promise<string> {
    await once(this.server.listen(0, '127.0.0.1'), 'listening');
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/sse`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await once(this.server.close(), 'close');
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.challenge !== undefined) {
      response.writeHead(401, { 'www-authenticate': this.challenge }).end();
    } else if (request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      this.stream = response;
      this.say('endpoint', this.endpoints.first);
    } else if (request.method !== 'POST' || request.url?.startsWith('/messages') !== true) {
      response.writeHead(405).end();
    } else if (this.redirect !== undefined) {
      response.writeHead(307, { location: this.redirect }).end();
    } else {
      const { id, method } = JSON.parse(await text(request)) as { id?: number; method: string };
      this.methods.push(method);
      response.writeHead(202).end();
      if (method === 'initialize' && this.endpoints.later !== undefined) this.say('endpoint', this.endpoints.later);
      if (id !== undefined) this.say('message', JSON.stringify({ jsonrpc: '2.0', id, ...this.outcome(method) }));
    }
  }

  private outcome(method: string): Record<string, unknown> {
    if (method === 'tools/list') return { result: { tools: [{ name: 'say', inputSchema: { type: 'object' } }] } };
    if (method !== 'initialize') return { error: { code: -32_601, message: 'no such method' } };
    const serverInfo = { name: 'old', version: '1' };
    return { result: { protocolVersion: '2024-11-05', capabilities: { tools: {} }, serverInfo } };
  }

  private say(event: string, data: string): void {
    this.stream?.write(`event: ${event}\ndata: ${data}\n\n`);
  }
}

const canary = new Canary();
let port: number;
let warren: TestWarren;
let provider: OldProvider;

beforeAll(async () => {
  port = await canary.start();
  warren = await startWarren();
});

afterEach(async () => {
  await warren.api.expect(204, 'DELETE', '/api/connections/old');
  await provider.stop();
  canary.visits = [];
});

afterAll(async () => {
  await warren.stop();
  await canary.stop();
});

/** Discovers a provider that lures as told. */
async function discover(luring: Partial<OldProvider>): Promise<{ status: number; body: Record<string, unknown> }> {
  provider = Object.assign(new OldProvider(), luring);
  await warren.api.expect(201, 'POST', '/api/connections', {
    id: 'old',
    name: 'Old',
    transport: 'http',
    baseUrl: await provider.start(),
    connectTimeoutMs: 5_000,
    headers: [{ name: 'X-Key', value: SECRET }],
  });
  return warren.api.post('/api/connections/old/discover');
}

describe('the stream of an old provider that names where messages go', () => {
  it('is followed within its origin', async () => {
    expect(await discover({})).toMatchObject({ status: 200, body: { toolCount: 1 } });
    expect(provider.methods).toContain('tools/list');
  });

  const elsewhere: [string, (of: number) => string][] = [
    ['another port', (of) => `http://127.0.0.1:${of}/messages`],
    ['no scheme', (of) => `//127.0.0.1:${of}/messages`],
    ['no scheme, backslashes', (of) => `\\\\127.0.0.1:${of}\\messages`],
    ['another name of this machine', (of) => `http://localhost:${of}/messages`],
    ['another family', (of) => `http://[::1]:${of}/messages`],
    ['a number for an address', (of) => `http://2130706433:${of}/messages`],
    ['a user', (of) => `http://user:password@127.0.0.1:${of}/messages`],
    ['another scheme', (of) => `https://127.0.0.1:${of}/messages`],
    ['a file', () => 'file:///etc/hostname'],
    ['nothing', () => ''],
  ];

  it.each(elsewhere)('is not followed elsewhere: %s', async (_, endpoint) => {
    const { status, body } = await discover({ endpoints: { first: endpoint(port) } });
    expect({ status, visits: canary.visits }).toEqual({ status: expect.any(Number), visits: [] });
    expect([502, 504]).toContain(status);
    expect(body).toMatchObject({ code: expect.stringMatching(/^provider_/), detail: expect.stringMatching(/\w/) });
    expect(JSON.stringify(body)).not.toContain(SECRET);
  });

  it('takes no message elsewhere by a later event', async () => {
    const { status } = await discover({
      endpoints: { first: '/messages', later: `http://127.0.0.1:${port}/messages` },
    });
    expect(provider.methods).toContain('initialize');
    expect([200, 502, 504]).toContain(status);
    expect(canary.visits).toEqual([]);
  });

  it('takes no message elsewhere by a redirect', async () => {
    const { status } = await discover({ redirect: `http://127.0.0.1:${port}/messages` });
    expect(status).toBe(502);
    expect(canary.visits).toEqual([]);
  });

  it('leads nobody to the metadata that its 401 names', async () => {
    const challenge = `Bearer resource_metadata="http://127.0.0.1:${port}/metadata", scope="all"`;
    expect(await discover({ challenge })).toMatchObject({ status: 502, body: { reason: 'auth_required' } });
    expect(canary.visits).toEqual([]);
  });
});

it('who goes there is seen', async () => {
  provider = new OldProvider();
  await discover({});
  await fetch(`http://127.0.0.1:${port}/messages`, { method: 'POST' });
  expect(canary.visits).toEqual(['POST /messages']);
});
