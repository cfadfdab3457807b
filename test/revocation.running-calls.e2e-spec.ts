import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { type RevocationBench, startRevocationBench } from './revocation.bench.js';
import { callTool } from './revocation.callers.js';
import { revocationKinds } from './revocation.kinds.js';

/** The bound for other replicas, milliseconds. */
const CANCELLED_WITHIN_MS = 5_000;
const ARRIVED_WITHIN_MS = 10_000;
const TOKEN_LIFE_MS = 2_000;

describe('a running call that loses its permission', () => {
  let bench: RevocationBench;

  beforeAll(async () => {
    bench = await startRevocationBench();
  });

  afterAll(() => bench.stop());

  const cases = Object.entries(revocationKinds).flatMap(([kind, prepare]) =>
    // kinds that concern one connection take it by the number of the trial
    (kind.includes('Tools') || kind.includes('connection') ? [0, 1] : [0]).map((trial) => ({ kind, prepare, trial })),
  );

  it.each(cases)('is cancelled in every process: $kind ($trial)', async ({ prepare, trial }) => {
    const prepared = await prepare(bench, trial, TOKEN_LIFE_MS);
    try {
      const calls = bench.warrens.flatMap(({ api }) =>
        prepared.connections.map((connection) => {
          const number = bench.nextNumber();
          return { number, outcome: callTool(api.as(prepared.token), connection, 'slow', number) };
        }),
      );
      const numbers = calls.map(({ number }) => number);
      const outcomes = Promise.all(calls.map(({ outcome }) => outcome));
      await until(ARRIVED_WITHIN_MS, 'every call arrives', async () => {
        await bench.log.read();
        return numbers.every((number) => bench.log.arrivals.some((arrival) => arrival.number === number));
      });

      await prepared.revoke(bench.api);

      const acknowledged = performance.now();
      expect(await outcomes).toEqual(numbers.map(() => 'mcp_call_cancelled'));
      await until(CANCELLED_WITHIN_MS, 'every provider is told', async () => {
        await bench.log.read();
        return numbers.every((number) => bench.log.cancelled.has(number));
      });
      expect(performance.now() - acknowledged).toBeLessThan(CANCELLED_WITHIN_MS);
    } finally {
      await prepared.restore?.();
    }
  });
});

/** Errors: when `holds` is not true in time. */
async function until(milliseconds: number, what: string, holds: () => Promise<boolean>): Promise<void> {
  for (const deadline = performance.now() + milliseconds; performance.now() < deadline; await delay(20)) {
    if (await holds()) return;
  }
  throw new Error(`not within ${milliseconds} ms: ${what}`);
}
