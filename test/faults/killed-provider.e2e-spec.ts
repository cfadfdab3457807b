import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { eventually } from '../support/eventually.js';
import { MenuBench } from '../support/menu-bench.js';
import { providersOf } from '../support/processes.js';
import { verifyCount } from '../support/verify-count.js';
import { faultProvider, outcomeOf, servingProcess, spread, startsOf, textOf } from './fault-bench.js';

const KILLS = verifyCount(10, 1);
const STOPS = 2;
const CALL_TIMEOUT_MS = 1_500;
/** An answer later than this is no answer to a fault any more; the aim is 1 s. */
const WIDE_MS = 10_000;

describe('a provider in mid-call', () => {
  let bench: MenuBench;

  beforeAll(async () => {
    bench = await MenuBench.start();
    await bench.connect('killed', faultProvider());
    await bench.connect('stopped', { ...faultProvider(), callTimeoutMs: CALL_TIMEOUT_MS });
    await bench.agent('caller', ['killed/hold', 'killed/pid', 'stopped/hold', 'stopped/pid']);
  });

  afterAll(async () => {
    const { pid } = bench.warren.process;
    await bench.stop();
    expect(providersOf(pid)).toEqual([]);
  });

  const call = (provider: string, tool: string) => bench.call('caller', { provider, tool });

  /** Begins a call that is never answered; resolves when it has arrived, with the process it arrived at. */
  async function hold(provider: string) {
    const before = (await bench.arrivals(provider, 'hold')).length;
    const answer = call(provider, 'hold').then((receipt) => ({ receipt, at: performance.now() }));
    const pid = await eventually(async () => {
      const arrivals = await bench.arrivals(provider, 'hold');
      expect(arrivals).toHaveLength(before + 1);
      return arrivals.at(-1)?.pid ?? 0;
    }, WIDE_MS);
    return { answer, pid };
  }

  it(
    'that is killed: the call is answered soon, is not sent again, and the next one gets a fresh process',
    async () => {
      const times: number[] = [];
      const pids = new Set<number>();
      for (let kill = 0; kill < KILLS; kill += 1) {
        const { answer, pid } = await hold('killed');
        pids.add(pid);
        const killedAt = performance.now();
        process.kill(pid, 'SIGKILL');
        const { receipt, at } = await answer;
        expect(receipt).toMatchObject({ ok: false, error: { code: 'mcp_call_interrupted', sent: 'maybe' } });
        times.push(at - killedAt);
        const next = await call('killed', 'pid');
        expect(textOf(next)).toBe(String(await servingProcess(bench, 'killed')));
        expect(textOf(next)).not.toBe(String(pid));
      }
      process.stdout.write(`answer after the SIGKILL of a provider, ${KILLS} times: ${spread(times)}\n`);
      expect(pids.size).toBe(KILLS);
      expect(await bench.arrivals('killed', 'hold')).toHaveLength(KILLS);
      expect(await startsOf(bench, 'killed')).toBe(KILLS + 1);
      expect(Math.max(...times)).toBeLessThan(WIDE_MS);
    },
    60_000 + KILLS * 2_000,
  );

  it('that is stopped: the call ends at its deadline, stop ends the process, and the next call gets a fresh one', async () => {
    const overruns: number[] = [];
    for (let stop = 0; stop < STOPS; stop += 1) {
      const begun = performance.now();
      const { answer, pid } = await hold('stopped');
      process.kill(pid, 'SIGSTOP');
      await eventually(() => expect(stateOf(pid)).toBe('T'));
      const { receipt, at } = await answer;
      expect(receipt).toMatchObject({ ok: false, error: { code: 'mcp_call_timeout', sent: 'maybe' } });
      overruns.push(at - begun - CALL_TIMEOUT_MS);
      // the session is still there, and says clearly that it does not answer
      expect(outcomeOf(await call('stopped', 'pid'))).toBe('mcp_call_timeout');
      await bench.api.expect(200, 'POST', '/api/connections/stopped/stop');
      expect(providersOf(bench.warren.process.pid).map((provider) => provider.pid)).not.toContain(pid);
      expect(textOf(await call('stopped', 'pid'))).toBe(String(await servingProcess(bench, 'stopped')));
    }
    process.stdout.write(`answer after its deadline, of a provider after SIGSTOP: ${spread(overruns)} too late\n`);
    expect(await bench.arrivals('stopped', 'hold')).toHaveLength(STOPS);
    expect(Math.max(...overruns)).toBeLessThan(WIDE_MS);
  }, 60_000);

  it('that is stopped when it has read half of a call: the next one gets a fresh process, and the old one ends', async () => {
    const pid = await servingProcess(bench, 'stopped');
    process.kill(pid, 'SIGSTOP');
    // more than a pipe holds
    const large = { provider: 'stopped', tool: 'hold', arguments: { text: 'x'.repeat(1_000_000) } };
    const before = (await bench.arrivals('stopped', 'hold')).length;
    expect(await bench.call('caller', large)).toMatchObject({ ok: false, error: { code: 'mcp_call_timeout' } });
    expect(stateOf(pid)).toBe('T');
    const next = textOf(await call('stopped', 'pid'));
    expect(next).toMatch(/^\d+$/);
    expect(next).not.toBe(String(pid));
    await eventually(() =>
      expect(providersOf(bench.warren.process.pid).map((provider) => provider.pid)).not.toContain(pid),
    );
    expect(await bench.arrivals('stopped', 'hold')).toHaveLength(before);
  });
});

/** The letter of the kernel: T for stopped. */
function stateOf(pid: number): string | undefined {
  return /\) (\w)/.exec(readFileSync(`/proc/${pid}/stat`, 'latin1'))?.[1];
}
