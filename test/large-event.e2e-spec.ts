import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MenuBench } from './support/menu-bench.js';

const LARGEST_BYTES = 65_536;

interface Message {
  id?: number;
  method?: string;
  params?: { protocolVersion?: string; arguments?: { bytes: number; withEventId?: boolean } };
}

/** An HTTP provider that answers calls by an event stream, with as much text as asked for. */
class StreamingProvider {
  initializations = 0;
  calls = 0;
  private readonly server: Server = createServer((request, response) => void this.serve(request, response));

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
    const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString()) as Message;
    const json = (result: unknown): void => {
      const headers = { 'content-type': 'application/json', 'mcp-session-id': 'session' };
      response.writeHead(200, headers).end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    };
    if (method === 'initialize') {
      this.initializations += 1;
      const serverInfo = { name: 'streaming', version: '1.0.0' };
      json({ protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo });
    } else if (id === undefined) response.writeHead(202).end();
    else if (method === 'tools/list') json({ tools: [{ name: 'fill', inputSchema: { type: 'object' } }] });
    else if (method === 'tools/call') {
      this.calls += 1;
      const { bytes = 0, withEventId = false } = params?.arguments ?? {};
      const result = { content: [{ type: 'text', text: 'x'.repeat(bytes) }] };
      const data = JSON.stringify({ jsonrpc: '2.0', id, result });
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      // an id before the answer says that the stream could be resumed
      if (withEventId) response.write(`id: ${id}\ndata: \n\n`);
      response.end(`event: message\ndata: ${data}\n\n`);
    } else response.writeHead(400).end();
  }
}

let bench: MenuBench;
const provider = new StreamingProvider();

beforeAll(async () => {
  bench = await MenuBench.start({ WARREN_MAX_MESSAGE_BYTES: String(LARGEST_BYTES) });
  const body = { id: 'web', name: 'web', transport: 'http', lifecycle: 'keep_alive', baseUrl: await provider.start() };
  await bench.api.expect(201, 'POST', '/api/connections?discover=true', body);
  await bench.agent('agent', ['web/fill']);
});

afterAll(async () => {
  await bench.stop();
  provider.stop();
});

it.each([false, true])(
  'says that an event was too large, and keeps the session (resumable: %s)',
  async (withEventId) => {
    const fill = (bytes: number) =>
      bench.call('agent', { provider: 'web', tool: 'fill', arguments: { bytes, withEventId } });
    expect(await fill(10)).toMatchObject({ ok: true });
    const { initializations, calls } = provider;
    const error = { code: 'mcp_response_too_large', sent: 'yes' };
    expect(await fill(2 * LARGEST_BYTES)).toMatchObject({ ok: false, error });
    expect(await fill(10)).toMatchObject({ ok: true });
    expect([provider.initializations - initializations, provider.calls - calls]).toEqual([0, 2]);
  },
);
