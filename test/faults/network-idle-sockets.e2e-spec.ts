import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '../support/eventually.js';
import { MenuBench } from '../support/menu-bench.js';
import { randomNumbers } from '../support/random-numbers.js';
import { answerTo, markerOf, NetworkBench, nextNumber } from './network-bench.js';
import { NetworkProvider } from './network-provider.js';

const ROUNDS = 3;
const CALLERS = 6;
const STORM_CALLS = 20;
/** The longest between two closings in the storm, milliseconds. */
const STORM_PAUSE_MS = 30;
const SEED = Number(process.env['WARREN_VERIFY_SEED'] ?? 1);

let menu: MenuBench;

beforeAll(async () => {
  menu = await MenuBench.start();
});

afterAll(() => menu.stop());

describe.each(['legacy', 'modern'] as const)('connections that a %s provider closes between calls', (era) => {
  let bench: NetworkBench;

  beforeAll(async () => {
    bench = await NetworkBench.start(menu, era, new NetworkProvider(era), 'keep_alive', { maxConcurrentCalls: 64 });
  });

  afterAll(() => bench.stop());

  async function callAtOnce(): Promise<void> {
    const numbers = Array.from({ length: CALLERS }, nextNumber);
    const receipts = await Promise.all(numbers.map((n) => bench.call('echo', n)));
    expect(receipts).toMatchObject(numbers.map(answerTo));
    expect(numbers.map((n) => bench.provider.arrivalsOf(n))).toEqual(numbers.map(() => 1));
  }

  it.each(['end', 'reset'] as const)('are no loss to the next calls: %s', async (how) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      await callAtOnce();
      expect(await bench.proxy.closeIdle(how)).toBeGreaterThan(0);
      await callAtOnce();
    }
  });

  it.each(['end', 'reset'] as const)('nor when Warren learns of it only with the next calls: %s', async (how) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      await callAtOnce();
      menu.warren.process.kill('SIGSTOP');
      let calls: Promise<void>;
      try {
        expect(await bench.proxy.closeIdle(how)).toBeGreaterThan(0);
        calls = callAtOnce();
        // gives the calls time to get as far as the stopped process; the sooner, the less there is to see
        await delay(50);
      } finally {
        menu.warren.process.kill('SIGCONT');
      }
      await calls;
    }
  });

  it('end a call that was being written, and it is not sent again', async () => {
    await callAtOnce();
    const n = nextNumber();
    const armed = bench.proxy.arm('reset-request', markerOf(n), Infinity);
    expect(await bench.call('echo', n)).toMatchObject({
      ok: false,
      error: { code: 'mcp_call_interrupted', sent: 'maybe', retryable: false },
    });
    bench.proxy.disarm(armed);
    // once, and on a connection that earlier calls had used
    expect(armed.fired).toHaveLength(1);
    expect(armed.fired[0]?.number).toBeGreaterThan(0);
    expect(bench.provider.arrivalsOf(n)).toBe(0);
    await callAtOnce();
  });

  it('at any moment under load: every call is answered or interrupted, none is sent twice', async () => {
    const random = randomNumbers(SEED);
    const tally = { answered: 0, interrupted: 0, wrong: [] as unknown[] };
    const calling = Promise.all(Array.from({ length: CALLERS }, () => callThroughStorm(tally)));
    const over = calling.then(
      () => true,
      () => true,
    );
    let closed = 0;
    do closed += await bench.proxy.closeIdle(random() < 0.5 ? 'end' : 'reset', 'used');
    while (!(await Promise.race([over, delay(random() * STORM_PAUSE_MS, false)])));
    await calling;
    process.stdout.write(
      `${era}, seed ${SEED}: ${closed} idle connections closed, ${tally.answered} calls answered, ` +
        `${tally.interrupted} interrupted, 0 sent twice\n`,
    );
    expect(tally.wrong).toEqual([]);
    expect(closed).toBeGreaterThan(CALLERS);
    expect(tally.answered).toBeGreaterThan(tally.interrupted);
    await eventually(callAtOnce);
  });

  async function callThroughStorm(tally: { answered: number; interrupted: number; wrong: unknown[] }): Promise<void> {
    for (let calls = 0; calls < STORM_CALLS; calls += 1) {
      const n = nextNumber();
      const { ok, content, error } = await bench.call('echo', n);
      const arrivals = bench.provider.arrivalsOf(n);
      const isAnswered = ok && arrivals === 1 && JSON.stringify(content).includes(`answer ${n}`);
      // interrupted: its request was on its way when the connection was closed
      const isInterrupted = error?.code === 'mcp_call_interrupted' && error.sent === 'maybe' && arrivals <= 1;
      if (isAnswered) tally.answered += 1;
      else if (isInterrupted) tally.interrupted += 1;
      else tally.wrong.push({ n, ok, content, error, arrivals });
    }
  }
});
