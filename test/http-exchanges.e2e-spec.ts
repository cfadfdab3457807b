import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { HttpTransport } from '../src/connections/session/http-transport.js';
import { withDispatchGate } from '../src/dispatch-gate.js';
import { closeAll, safeFetch } from './safe-fetch.servers.js';
import { eventually } from './support/eventually.js';

const SOCKETS = 2;
const WIDE_MS = 20_000;

/** Answers nothing by itself; holds every request as an open event stream. */
class HoldingProvider {
  readonly received: { id?: number; method: string; params?: { requestId?: number } }[] = [];
  readonly streams = new Map<number, ServerResponse>();
  readonly closed: number[] = [];
  private readonly server: Server = createServer((request, response) => void this.serve(request, response));

  async start(): Promise<string> {
    await once(this.server.listen(0, '127.0.0.1'), 'listening');
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/mcp`;
  }

  stop(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  event(id: number, message: object): void {
    this.streams.get(id)?.write(`data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`);
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const message = JSON.parse(Buffer.concat(chunks).toString());
    this.received.push(message);
    if (message.id === undefined) return void response.writeHead(202).end();
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    this.streams.set(message.id, response);
    response.on('close', () => this.closed.push(message.id));
  }
}

describe('HTTP exchanges of one session', () => {
  let provider: HoldingProvider;
  let transport: HttpTransport;
  let answers: unknown[];

  beforeEach(async () => {
    provider = new HoldingProvider();
    const url = await provider.start();
    const safe = safeFetch({ limits: { socketsPerOrigin: SOCKETS } });
    transport = new HttpTransport({ transport: 'http', url, headers: {} }, safe.fetch);
    answers = [];
    transport.onmessage = (message) => void answers.push(message);
    await transport.start();
  });

  afterEach(async () => {
    await transport.close();
    await closeAll();
    provider.stop();
  });

  const ask = (id: number): Promise<void> =>
    transport.send({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'n' } });
  const cancel = (requestId: number): Promise<void> =>
    transport.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } });
  const told = (): unknown[] =>
    provider.received
      .filter(({ method }) => method === 'notifications/cancelled')
      .map(({ params }) => params?.requestId);

  it('are cancelled and closed although they hold every socket', async () => {
    for (let id = 0; id < SOCKETS; id += 1) await ask(id);
    await cancel(0);
    await eventually(() => {
      expect(told()).toEqual([0]);
      expect(provider.closed).toEqual([0]);
    }, WIDE_MS);
    provider.event(1, { id: 1, result: {} });
    await eventually(() => expect(answers).toMatchObject([{ id: 1 }]), WIDE_MS);
  });

  it('leave nothing open however many are cancelled', async () => {
    for (let id = 0; id < 20; id += 1) {
      await ask(id);
      await cancel(id);
    }
    await eventually(() => expect(provider.closed).toHaveLength(20), WIDE_MS);
    expect(told()).toEqual(Array.from({ length: 20 }, (_, id) => id));
    expect(answers).toEqual([]);
  });

  it('are never spoken of when the provider has not seen them', async () => {
    let admitting = (): void => undefined;
    const waiting = new Promise<void>((resolve) => (admitting = resolve));
    const gate = {
      guards: (body: string) => body.includes('"tools/call"'),
      admit: () => {
        admitting();
        return new Promise<void>(() => undefined);
      },
      mayWrite: () => true,
      written: () => undefined,
      abandoned: () => undefined,
    };
    const refused = withDispatchGate(gate, () => ask(1)).catch((error: unknown) => error);
    await waiting;
    await cancel(1);
    expect(String(await refused)).toContain('aborted');
    await cancel(2);
    await ask(3);
    expect(provider.received.map(({ method }) => method)).toEqual(['tools/call']);
  });

  it('are admitted once, whatever the provider asks meanwhile and calls its question', async () => {
    let admissions = 0;
    const gate = {
      guards: (body: string) => body.includes('"tools/call"'),
      admit: async () => void (admissions += 1),
      mayWrite: () => true,
      written: () => undefined,
      abandoned: () => undefined,
    };
    transport.onmessage = (message) => {
      if ('method' in message && 'id' in message) {
        void transport.send({ jsonrpc: '2.0', id: message.id, result: { _meta: {} } });
      }
    };
    await withDispatchGate(gate, () => ask(1));
    provider.event(1, { id: 'tools/call', method: 'ping' });
    await eventually(() => expect(provider.received).toMatchObject([{ id: 1 }, { id: 'tools/call' }]), WIDE_MS);
    expect(admissions).toBe(1);
    // nor is its own exchange forgotten over it
    provider.event(1, { id: 1, result: {} });
    await eventually(() => expect(provider.closed).toContain(1), WIDE_MS);
  });

  it('are closed when a provider leaves the stream of an answered request open', async () => {
    await ask(1);
    provider.event(1, { id: '1', result: {} });
    await eventually(() => expect(provider.closed).toEqual([1]), WIDE_MS);
    // as a number, for that is what was asked
    expect(answers).toMatchObject([{ id: 1, result: {} }]);
  });

  it('all end with the session', async () => {
    await Promise.all([ask(1), ask(2)]);
    await transport.close();
    await eventually(() => expect(new Set(provider.closed)).toEqual(new Set([1, 2])), WIDE_MS);
  });
});
