import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { MenuBench } from '../support/menu-bench.js';
import { answerTo, markerOf, type NetworkBench, nextNumber, onAll, PATIENT_MS, startAll } from './network-bench.js';
import { faultCases } from './network-faults.table.js';

/** Deadline of the calls that meet a fault which only time ends, milliseconds. */
const DEADLINE_MS = 1_000;
/** An answer this long after its cause is wrong even on a loaded machine, milliseconds. */
const WIDE_MS = 10_000;

type FaultName = keyof typeof faultCases;
const names = Object.keys(faultCases) as FaultName[];

describe('a fault of the network in the middle of a call', () => {
  let menu: MenuBench;
  let benches: NetworkBench[] = [];
  /** From what ended a call to its answer, milliseconds. */
  const lateness = { deadline: [] as number[], 'broken connection': [] as number[] };

  beforeAll(async () => {
    menu = await MenuBench.start();
    benches = await startAll(menu);
  });

  afterAll(async () => {
    for (const [cause, values] of Object.entries(lateness)) process.stdout.write(lineOf(cause, values));
    for (const bench of benches) await bench.stop();
    await menu.stop();
  });

  it.each(names)('%s: the right code, nobody else disturbed, nothing sent twice', async (name) => {
    await expect(onAll(benches, (bench) => trial(bench, name))).resolves.toBeUndefined();
  });

  it('costs a lasting session nothing', () => {
    const handshakes = (lifecycle: string) =>
      benches.filter((bench) => bench.lifecycle === lifecycle).map(({ provider }) => provider.handshakes);
    // who did not answer in time was asked for a sign of life
    const silences = names.filter((name) => faultCases[name].code === 'mcp_call_timeout').length;
    const lasting = benches.filter((bench) => bench.lifecycle === 'keep_alive').map(({ provider }) => provider);
    expect(lasting.map(({ era, handshakes: count }) => [era, count])).toEqual([
      ['legacy', 1],
      ['modern', 1 + silences],
    ]);
    expect(Math.min(...handshakes('ephemeral'))).toBeGreaterThan(names.length);
  });

  async function trial(bench: NetworkBench, name: FaultName): Promise<void> {
    const { code, sent, arrivals, ...reason } = faultCases[name];
    const { provider } = bench;
    const [other, hit, next] = [nextNumber(), nextNumber(), nextNumber()];
    const undisturbed = bench.call('hold', other);
    await eventually(() => expect(provider.isHolding(other)).toBe(true));
    await bench.setTimeouts({ callTimeoutMs: code === 'mcp_call_timeout' ? DEADLINE_MS : PATIENT_MS });

    const fault = await inject(bench, name, hit);
    const asked = performance.now();
    const receipt = await bench.call('echo', hit);
    const answered = performance.now();
    await fault.end();

    expect(receipt).toMatchObject({ ok: false, error: { code, sent, retryable: sent === 'no', ...reason } });
    expect(provider.arrivalsOf(hit)).toBe(arrivals);
    const isDeadline = code === 'mcp_call_timeout';
    const fired = fault.firedAt() ?? asked;
    // the deadline runs from the session being ready: a lasting one was so from the start, another until just before
    const late =
      answered - (isDeadline && bench.lifecycle === 'keep_alive' ? asked : fired) - (isDeadline ? DEADLINE_MS : 0);
    lateness[isDeadline ? 'deadline' : 'broken connection'].push(late);
    expect(late).toBeLessThan(WIDE_MS);
    expect(answered - asked).toBeGreaterThan(isDeadline ? DEADLINE_MS - 50 : 0);

    await bench.setTimeouts({ callTimeoutMs: PATIENT_MS });
    expect(await bench.call('echo', next)).toMatchObject(answerTo(next));
    expect(provider.isHolding(other)).toBe(true);
    provider.release(other);
    expect(await undisturbed).toMatchObject(answerTo(other));
    expect(new Set(provider.arrivals).size).toBe(provider.arrivals.length);
    const recorded = await menu.api.expect(200, 'GET', `/api/calls/${receipt.callId}`);
    expect(recorded).toMatchObject({ state: 'finished', ok: false, code, sent });
  }
});

/** Lets the fault happen to the call with this number; `end` fails the test when it has not. */
async function inject({ proxy }: NetworkBench, name: FaultName, n: number) {
  if (name === 'refuse') {
    await proxy.refuse();
    // that it fired shows in the reason the caller is told
    return { firedAt: () => undefined, end: () => proxy.open() };
  }
  const armed = proxy.arm(name, markerOf(n), Infinity);
  return {
    firedAt: () => armed.fired[0]?.at,
    end: async () => {
      proxy.disarm(armed);
      expect(armed.fired).toHaveLength(1);
    },
  };
}

function lineOf(cause: string, values: readonly number[]): string {
  const sorted = values.toSorted((a, b) => a - b);
  const [median, worst] = [sorted[Math.floor(sorted.length / 2)], sorted.at(-1)].map((value) => value?.toFixed(0));
  return `answers after a ${cause}: ${values.length}, median ${median} ms, worst ${worst} ms\n`;
}
