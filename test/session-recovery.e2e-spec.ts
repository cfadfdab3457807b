import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { CallReceipt } from '../src/runtime/menu.answers.js';
import { eventually } from './support/eventually.js';
import { MenuBench } from './support/menu-bench.js';

const call = { provider: 'line', tool: 'ok' };
const lifecycles = ['keep_alive', 'ephemeral'] as const;

describe('a provider that is away for a while', () => {
  let bench: MenuBench;

  beforeAll(async () => {
    bench = await MenuBench.start();
    await bench.connect('line');
    await bench.agent('demo', ['line/ok', 'line/exit-now']);
  });

  afterAll(() => bench.stop());

  beforeEach(async () => {
    await bench.change('line', { lifecycle: 'keep_alive', args: bench.launch('well') });
  });

  const failToStart = async (lifecycle: string): Promise<CallReceipt[]> => {
    await bench.change('line', { lifecycle, args: bench.launch('exit') });
    const receipts: CallReceipt[] = [];
    for (let count = 1; count <= 5; count += 1) receipts.push(await bench.call('demo', call));
    return receipts;
  };

  const shown = async () => {
    const { providers } = await bench.menu('demo', 'mcp_providers', {});
    const { tools } = await bench.menu('demo', 'mcp_capabilities', { query: 'ok' });
    return [providers[0].available, tools[0].available];
  };

  it.each(lifecycles)(
    'is left alone after five failed starts, and the caller told for how long (%s)',
    async (lifecycle) => {
      expect(await shown()).toEqual([true, true]);
      const failures = await failToStart(lifecycle);
      expect(failures.map(({ error }) => error?.retryAfterMs)).toEqual(Array(5).fill(undefined));
      const started = await starts();
      const { error } = await bench.call('demo', call);
      expect(error).toMatchObject({
        code: 'mcp_provider_unreachable',
        reason: 'process_exited',
        sent: 'no',
        retryable: true,
      });
      expect(error?.retryAfterMs).toBeGreaterThan(0);
      expect(error?.retryAfterMs).toBeLessThanOrEqual(10_000);
      expect(await starts()).toBe(started);
      expect(await shown()).toEqual([false, false]);
      const { live } = await bench.api.expect(200, 'GET', '/api/connections/line');
      expect(live).toMatchObject({ state: 'error', reason: 'process_exited' });
    },
  );

  it('tries all the same for an operator, and for everyone as soon as its settings change', async () => {
    await failToStart('keep_alive');
    const started = await starts();
    await bench.api.expect(502, 'POST', '/api/connections/line/discover');
    expect(await starts()).toBeGreaterThan(started);
    await bench.change('line', { args: bench.launch('well') });
    expect(await shown()).toEqual([true, true]);
    expect(await bench.call('demo', call)).toMatchObject({ ok: true });
  });

  it.each(lifecycles)('is not blamed for a start that an operator ends (%s)', async (lifecycle) => {
    await bench.change('line', { lifecycle, args: bench.launch('mute') });
    const started = await starts();
    const waiting = bench.call('demo', call);
    await eventually(async () => expect(await starts()).toBe(started + 1));
    await bench.change('line', { args: bench.launch('well') });
    expect((await waiting).error).toMatchObject({ code: 'mcp_call_interrupted', sent: 'no', retryable: true });
    expect(await bench.call('demo', call)).toMatchObject({ ok: true });
  });

  it('comes back by itself when its process died, without a call', async () => {
    await bench.call('demo', call);
    const pid = await livePid();
    await bench.api.expect(200, 'GET', '/api/connections/line');
    expect((await bench.call('demo', { provider: 'line', tool: 'exit-now' })).error).toMatchObject({
      code: 'mcp_call_interrupted',
      sent: 'maybe',
    });
    await eventually(async () => expect(await livePid()).not.toBe(pid), 20_000);
    // transitions are written down after they happened
    await eventually(async () => {
      const { items } = await bench.api.expect(200, 'GET', '/api/connections/line/events?limit=3');
      expect(items.map(({ status }: { status: string }) => status)).toEqual(['ready', 'starting', 'unavailable']);
    });
    expect(await bench.arrivals('line', 'exit-now')).toHaveLength(1);
  });

  const starts = async (): Promise<number> =>
    (await bench.seen('line')).filter(({ event }) => event === 'start').length;

  const livePid = async (): Promise<number> => {
    const { live } = await bench.api.expect(200, 'GET', '/api/connections/line');
    expect(live).toMatchObject({ state: 'connected', processes: [{ pid: expect.any(Number) }] });
    return live.processes[0].pid;
  };
});

/** Answers everything with 429 while `closed`. */
class ThrottledProvider {
  requests = 0;
  closed = false;
  private readonly server: Server = createServer((request, response) => {
    this.requests += 1;
    if (this.closed) return void response.writeHead(429, { 'retry-after': '7' }).end('slow down');
    if (request.method !== 'POST') return void response.writeHead(405).end();
    void request.toArray().then((chunks) => {
      const { id, method, params } = JSON.parse(Buffer.concat(chunks as Buffer[]).toString());
      if (id === undefined) return void response.writeHead(202).end();
      const results: Record<string, unknown> = {
        initialize: {
          protocolVersion: params?.protocolVersion,
          capabilities: { tools: {} },
          serverInfo: { name: 'throttled', version: '1.0.0' },
        },
        'tools/list': { tools: [{ name: 'ok', inputSchema: { type: 'object' } }] },
        'tools/call': { content: [{ type: 'text', text: 'ok' }] },
      };
      const known = results[method];
      const reply = known === undefined ? { error: { code: -32_601, message: 'no' } } : { result: known };
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id, ...reply }));
    });
  });

  async start(): Promise<string> {
    await once(this.server.listen(0, '127.0.0.1'), 'listening');
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/mcp`;
  }

  stop(): void {
    this.server.close();
    this.server.closeAllConnections();
  }
}

describe('a provider that asks for a pause', () => {
  let bench: MenuBench;
  const provider = new ThrottledProvider();

  beforeAll(async () => {
    bench = await MenuBench.start();
    const baseUrl = await provider.start();
    const fields = { transport: 'http', baseUrl, command: undefined, args: undefined, environmentVariables: undefined };
    await bench.connect('line', { ...fields, lifecycle: 'keep_alive' });
    await bench.agent('demo', ['line/ok']);
  });

  afterAll(async () => {
    await bench.stop();
    provider.stop();
  });

  it.each(lifecycles)(
    'gets few requests from many callers, who are told when to come again (%s)',
    async (lifecycle) => {
      await bench.change('line', { lifecycle, connectTimeoutMs: 5_000 });
      provider.closed = true;
      await bench.change('line', { apiKey: `renewed-for-${lifecycle}` });
      const before = provider.requests;
      const receipts = await Promise.all(Array.from({ length: 20 }, () => bench.call('demo', call)));
      const later = await bench.call('demo', call);
      provider.closed = false;
      for (const { error } of [...receipts, later]) {
        expect(error).toMatchObject({ code: 'mcp_provider_unreachable', reason: 'http_error', sent: 'no' });
        expect(error?.retryAfterMs).toBeGreaterThan(5_000);
        expect(error?.retryAfterMs).toBeLessThanOrEqual(7_000);
      }
      expect(provider.requests - before).toBeLessThan(10);
      expect(provider.requests - before).toBeGreaterThan(0);
    },
  );

  it('says so too when only the call was refused', async () => {
    await bench.change('line', { lifecycle: 'keep_alive', apiKey: 'once-more' });
    expect(await bench.call('demo', call)).toMatchObject({ ok: true });
    provider.closed = true;
    const { error } = await bench.call('demo', call);
    provider.closed = false;
    expect(error).toMatchObject({ code: 'mcp_provider_unreachable', retryAfterMs: 7_000 });
    expect(await bench.call('demo', call)).toMatchObject({ ok: true });
  });
});
