import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import type { ExchangeFault } from '../support/fault-connection.js';
import { FaultProxy } from '../support/fault-proxy.js';
import { MenuBench } from '../support/menu-bench.js';
import { answerTo, type NetworkBench, nextNumber, onAll, PATIENT_MS, startAll } from './network-bench.js';
import { NetworkProvider } from './network-provider.js';

/** Deadline of the starts that meet a fault which only time ends, milliseconds. */
const START_MS = 1_000;
const WIDE_MS = 10_000;
/** A breaker or a wait between attempts may stand before the next session, milliseconds. */
const RECOVERY_MS = 20_000;

const silent: ExchangeFault[] = ['swallow-request', 'swallow-answer', 'drip-answer'];
const breaking: ExchangeFault[] = ['reset-request', 'reset-answer', 'cut-event'];
const HANDSHAKES = { legacy: '"method":"initialize"', modern: '"method":"server/discover"' };

describe('a fault of the network while a session opens', () => {
  let menu: MenuBench;
  let benches: NetworkBench[] = [];

  beforeAll(async () => {
    menu = await MenuBench.start();
    benches = await startAll(menu);
  });

  afterAll(async () => {
    for (const bench of benches) await bench.stop();
    await menu.stop();
  });

  it.each([...silent, ...breaking])('%s: unreachable, never sent, and the next call finds it', async (name) => {
    await expect(onAll(benches, (bench) => trial(bench, name))).resolves.toBeUndefined();
  });

  it('is told at the first contact too, where the provider has refused the other era before', async () => {
    const provider = new NetworkProvider('legacy');
    const proxy = new FaultProxy(await provider.start());
    try {
      const baseUrl = `${await proxy.open()}/mcp`;
      const settings = { id: 'new', name: 'new', transport: 'http', baseUrl, lifecycle: 'keep_alive' };
      await menu.api.expect(201, 'POST', '/api/connections', { ...settings, connectTimeoutMs: PATIENT_MS });
      const armed = proxy.arm('cut-event', HANDSHAKES.legacy, Infinity);
      const asked = performance.now();
      const answer = await menu.api.post('/api/connections/new/start');
      expect(performance.now() - asked).toBeLessThan(WIDE_MS);
      expect(armed.fired.length).toBeGreaterThan(0);
      expect(answer.status).toBe(502);
      expect(await menu.api.expect(200, 'GET', '/api/connections/new')).toMatchObject({
        live: { reason: 'http_error' },
      });
    } finally {
      await proxy.stop();
      provider.stop();
    }
  });

  async function trial(bench: NetworkBench, name: ExchangeFault): Promise<void> {
    const [hit, next] = [nextNumber(), nextNumber()];
    const isSilent = silent.includes(name);
    await bench.setTimeouts({ connectTimeoutMs: isSilent ? START_MS : PATIENT_MS });
    if (bench.lifecycle === 'keep_alive') await bench.stopSession();
    // however often it is tried
    const armed = bench.proxy.arm(name, HANDSHAKES[bench.provider.era], Infinity);
    const asked = performance.now();
    const receipt = await bench.call('echo', hit);
    const took = performance.now() - asked;
    bench.proxy.disarm(armed);

    expect(armed.fired.length).toBeGreaterThan(0);
    const reason = isSilent ? 'handshake_timeout' : 'http_error';
    const error = { code: 'mcp_provider_unreachable', sent: 'no', retryable: true, reason };
    expect(receipt).toMatchObject({ ok: false, error });
    expect(took).toBeGreaterThan(isSilent ? START_MS - 50 : 0);
    expect(took).toBeLessThan(WIDE_MS);
    await bench.setTimeouts({ connectTimeoutMs: PATIENT_MS });
    await eventually(async () => expect(await bench.call('echo', next)).toMatchObject(answerTo(next)), RECOVERY_MS);
    expect(bench.provider.arrivals).not.toContain(hit);
    expect(bench.provider.arrivalsOf(next)).toBe(1);
  }
});
