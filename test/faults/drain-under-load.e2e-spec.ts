import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { MenuBench } from '../support/menu-bench.js';
import { providersOf } from '../support/processes.js';
import { faultProvider, numberOf, outcomeOf, tally, UNBOUNDED } from './fault-bench.js';

const CALLERS = 30;
/** Each call takes this long at the provider, milliseconds. */
const CALL_MS = 300;
/** So many must be on their way when the signal comes. */
const BUSY = 10;
/** The aim is 30 s, of which calls in flight are given 23; more than this is no drain any more. */
const WIDE_MS = 60_000;

describe('a Warren that is told to stop under load', () => {
  let bench: MenuBench;
  let stopped: Promise<number | null> | undefined;

  beforeEach(async () => {
    bench = await MenuBench.start(UNBOUNDED);
    stopped = undefined;
    await bench.connect('line', { ...faultProvider('deaf', 'daemon'), maxConcurrentCalls: 64, callTimeoutMs: 120_000 });
    await bench.connect('once', { ...faultProvider('deaf-setsid'), lifecycle: 'ephemeral', maxConcurrentCalls: 3 });
    await bench.agent('caller', ['line/wait', 'line/hold', 'once/wait']);
  });

  afterEach(async () => {
    await (stopped ?? bench.stop());
    expect(providersOf(bench.warren.process.pid)).toEqual([]);
  });

  it('finishes every call that has reached a provider, and leaves nothing', async () => {
    const answered = new Set<number>();
    const outcomes: string[] = [];
    let next = 0;
    const caller = async (provider: string): Promise<void> => {
      for (;;) {
        const n = (next += 1);
        const call = { provider, tool: 'wait', arguments: { ms: CALL_MS, n } };
        const outcome = await bench.call('caller', call).then(outcomeOf, () => 'not accepted');
        outcomes.push(outcome);
        if (outcome !== 'ok') return;
        answered.add(n);
      }
    };
    const callers = Array.from({ length: CALLERS }, (_, index) => caller(index % 6 === 0 ? 'once' : 'line'));
    const arrivals = async (): Promise<number[]> =>
      [...(await bench.arrivals('line', 'wait')), ...(await bench.arrivals('once', 'wait'))].map(numberOf);
    await eventually(async () => {
      const running = (await arrivals()).filter((n) => !answered.has(n));
      expect(running.length).toBeGreaterThanOrEqual(BUSY);
      expect(answered.size).toBeGreaterThanOrEqual(CALLERS);
    }, 20_000);

    const begun = performance.now();
    stopped = bench.warren.stop();
    await Promise.all(callers);
    expect(await stopped).toBe(0);
    const took = performance.now() - begun;

    process.stdout.write(
      `SIGTERM with ${CALLERS} callers: exit after ${took.toFixed(0)} ms, ${JSON.stringify(tally(outcomes))}\n`,
    );
    expect((await arrivals()).filter((n) => !answered.has(n))).toEqual([]);
    expect(tally(outcomes)).toEqual({ ok: answered.size, 'not accepted': CALLERS });
    expect(took).toBeLessThan(WIDE_MS);
  }, 90_000);

  it('cancels and answers a call that does not finish', async () => {
    const held = bench.call('caller', { provider: 'line', tool: 'hold' });
    await eventually(async () => expect(await bench.arrivals('line', 'hold')).toHaveLength(1));
    const begun = performance.now();
    stopped = bench.warren.stop();
    expect(await held).toMatchObject({ ok: false, error: { code: 'mcp_call_cancelled', sent: 'maybe' } });
    expect(await stopped).toBe(0);
    const took = performance.now() - begun;
    process.stdout.write(`SIGTERM with a call that never ends: exit after ${took.toFixed(0)} ms\n`);
    expect(took).toBeLessThan(WIDE_MS);
  }, 90_000);
});
