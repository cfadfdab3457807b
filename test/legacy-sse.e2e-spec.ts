import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import { eventually } from './support/eventually.js';
import { MenuBench } from './support/menu-bench.js';
import { VerbatimProvider } from './support/verbatim-provider.js';

const WIDE_MS = 20_000;

describe('a provider of 2024-11-05 whose one stream breaks off', () => {
  let bench: MenuBench;
  const provider = new VerbatimProvider('common-stream');

  beforeAll(async () => {
    bench = await MenuBench.start();
    const baseUrl = await provider.start();
    await bench.connect('old', {
      transport: 'http',
      baseUrl,
      command: undefined,
      args: undefined,
      environmentVariables: undefined,
      callTimeoutMs: 60_000,
    });
    await bench.agent('demo', ['old/say']);
  });

  afterAll(async () => {
    await bench.stop();
    provider.stop();
  });

  const say = (raw: string) => bench.call('demo', { provider: 'old', tool: 'say', arguments: { raw } });
  const fine = '{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"fine"}]}}';
  const breaks: [how: string, breakOff: (stream: ServerResponse) => void][] = [
    ['ends', (stream) => stream.end()],
    ['is cut', (stream) => stream.destroy()],
  ];

  it.each(breaks)('tells whoever waits at once, and comes back by itself: the stream %s', async (_, breakOff) => {
    expect(await say(fine)).toMatchObject({ ok: true });
    const before = provider.calls.length;
    // an event without data answers nobody
    const waiting = Promise.all([say(''), say('')]);
    await eventually(() => expect(provider.calls).toHaveLength(before + 2), WIDE_MS);
    expect(provider.streams.size).toBe(1);
    for (const stream of provider.streams) breakOff(stream);
    const interrupted = { ok: false, error: { code: 'mcp_call_interrupted', sent: 'maybe' } };
    const receipts = await waiting;
    expect(receipts).toMatchObject([interrupted, interrupted]);
    for (const { durationMs } of receipts) expect(durationMs).toBeLessThan(WIDE_MS);
    await eventually(async () => {
      const { live } = await bench.api.expect(200, 'GET', '/api/connections/old');
      expect([live.state, provider.streams.size]).toEqual(['connected', 1]);
    }, WIDE_MS);
    expect(await say(fine)).toMatchObject({ ok: true });
    expect(provider.calls).toHaveLength(before + 3);
  });
});
