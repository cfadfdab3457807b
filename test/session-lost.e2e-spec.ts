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
