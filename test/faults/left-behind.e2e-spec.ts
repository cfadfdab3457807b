import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { MenuBench } from '../support/menu-bench.js';
import { BOUND_MS, Litterers, LITTERS } from './litterers.js';

describe('nothing of a provider is left', () => {
  let bench: MenuBench;
  let litterers: Litterers;

  beforeAll(async () => {
    bench = await MenuBench.start();
  });

  afterEach(async () => {
    await litterers.end();
  });

  afterAll(async () => {
    await bench.stop();
  });

  it.each([
    { ending: 'stop', end: (id: string) => bench.api.expect(200, 'POST', `/api/connections/${id}/stop`) },
    { ending: 'delete', end: (id: string) => bench.api.expect(204, 'DELETE', `/api/connections/${id}`) },
  ])('when $ending is answered', async ({ ending, end }) => {
    litterers = new Litterers(bench, ending);
    await litterers.connect();
    await litterers.discover();
    await litterers.started();
    await litterers.each(end);
    expect(litterers.living()).toEqual([]);
  });

  it.each([
    { ending: 'disabled', end: (id: string) => bench.change(id, { enabled: false }) },
    { ending: 'made-ephemeral', end: (id: string) => bench.change(id, { lifecycle: 'ephemeral' }) },
    {
      ending: 'killed',
      end: async (id: string) => {
        const { live } = await bench.api.expect(200, 'GET', `/api/connections/${id}`);
        process.kill(live.processes[0].pid, 'SIGKILL');
      },
    },
  ])('soon after the provider is $ending', async ({ ending, end }) => {
    litterers = new Litterers(bench, ending);
    await litterers.connect();
    await litterers.discover();
    await litterers.started();
    // one that was killed may be started again by itself
    const before = litterers.living().map(({ pid }) => pid);
    await litterers.each(end);
    await eventually(() => expect(litterers.living(before)).toEqual([]), BOUND_MS);
  });

  it('soon after a call on a session of its own has timed out', async () => {
    const callTimeoutMs = 2_000;
    litterers = new Litterers(bench, 'timeout');
    await litterers.connect({ lifecycle: 'ephemeral', callTimeoutMs });
    await litterers.discover();
    await eventually(() => expect(litterers.living()).toEqual([]), BOUND_MS);
    await bench.agent(
      'timeout',
      litterers.ids.map((id) => `${id}/hold`),
    );
    const calls = litterers.each((provider) => bench.call('timeout', { provider, tool: 'hold' }));
    await litterers.started();
    for (const answer of await calls) {
      expect(answer).toMatchObject({ ok: false, error: { code: 'mcp_call_timeout', sent: 'maybe' } });
    }
    await eventually(() => expect(litterers.living()).toEqual([]), BOUND_MS);
  });

  it('soon after its start has timed out', async () => {
    litterers = new Litterers(bench, 'mute');
    await litterers.connect({ connectTimeoutMs: 4_000 }, 'mute');
    const starts = litterers.each((id) => bench.api.post(`/api/connections/${id}/start`));
    await litterers.started();
    expect(await starts).toMatchObject(LITTERS.map(() => ({ body: { reason: 'handshake_timeout' } })));
    await eventually(() => expect(litterers.living()).toEqual([]), BOUND_MS);
  });
});

describe('nothing of any provider is left', () => {
  it('when Warren has ended after SIGTERM', async () => {
    const bench = await MenuBench.start();
    const litterers = new Litterers(bench, 'term');
    let stopped: Promise<number | null> | undefined;
    try {
      await litterers.connect();
      await litterers.discover();
      await litterers.started();
      const begun = performance.now();
      stopped = bench.warren.stop();
      expect(await stopped).toBe(0);
      const took = performance.now() - begun;
      expect(litterers.living()).toEqual([]);
      process.stdout.write(`Warren ended ${took.toFixed(0)} ms after SIGTERM, with deaf providers\n`);
      expect(took).toBeLessThan(30_000);
    } finally {
      await (stopped ?? bench.stop());
      litterers.kill();
    }
  });
});
