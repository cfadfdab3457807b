import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { MenuBench } from '../support/menu-bench.js';
import { answerTo, markerOf, NetworkBench, nextNumber } from './network-bench.js';
import { NetworkProvider } from './network-provider.js';

const DEADLINE_MS = 3_000;

describe('a stream of server-sent events that breaks', () => {
  let menu: MenuBench;
  const benches: NetworkBench[] = [];

  beforeAll(async () => {
    menu = await MenuBench.start();
  });

  afterAll(async () => {
    for (const bench of benches) await bench.stop();
    await menu.stop();
  });

  async function start(id: string, provider: NetworkProvider): Promise<NetworkBench> {
    const bench = await NetworkBench.start(menu, id, provider, 'keep_alive', { callTimeoutMs: DEADLINE_MS });
    benches.push(bench);
    return bench;
  }

  it('is no loss to any call, when it is the one on which the provider speaks by itself', async () => {
    const bench = await start('listens', new NetworkProvider('legacy'));
    const held = nextNumber();
    await eventually(() => expect(bench.provider.listening.size).toBe(1));
    const undisturbed = bench.call('hold', held);
    await eventually(() => expect(bench.provider.isHolding(held)).toBe(true));
    const [stream] = bench.provider.listening;

    expect(await bench.proxy.closeIdle('reset')).toBeGreaterThan(0);
    await eventually(() => expect(bench.provider.listening.has(stream as never)).toBe(false));
    const next = nextNumber();
    expect(await bench.call('echo', next)).toMatchObject(answerTo(next));
    bench.provider.release(held);
    expect(await undisturbed).toMatchObject(answerTo(held));
    // it is asked for again, else changes of the tool list would never be heard
    await eventually(() => expect(bench.provider.listening.size).toBe(1));
    expect(bench.provider.handshakes).toBe(1);
  });

  it('is resumed where the provider offers it, and the call is not sent again', async () => {
    const bench = await start('resumes', new NetworkProvider('legacy', 'kept'));
    const n = nextNumber();
    const armed = bench.proxy.arm('cut-event', markerOf(n));
    expect(await bench.call('echo', n)).toMatchObject(answerTo(n));
    expect(armed.fired).toHaveLength(1);
    expect(bench.provider.resumptions).toBe(1);
    expect(bench.provider.arrivalsOf(n)).toBe(1);
  });

  it('ends its call by the deadline where the provider offers to resume it and does not', async () => {
    const bench = await start('forgets', new NetworkProvider('legacy', 'forgetful'));
    const n = nextNumber();
    const armed = bench.proxy.arm('cut-event', markerOf(n));
    const { ok, error } = await bench.call('echo', n);
    expect(armed.fired).toHaveLength(1);
    expect(ok).toBe(false);
    expect(['mcp_call_timeout', 'mcp_call_interrupted']).toContain(error?.code);
    expect(error).toMatchObject({ sent: 'maybe', retryable: false });
    expect(bench.provider.arrivalsOf(n)).toBe(1);
  });
});
