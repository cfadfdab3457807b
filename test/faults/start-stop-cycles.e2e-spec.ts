import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Pool } from 'pg';
import { eventually } from '../support/eventually.js';
import { MenuBench } from '../support/menu-bench.js';
import { providersOf } from '../support/processes.js';
import { verifyCount } from '../support/verify-count.js';
import { faultProvider, startsOf, UNBOUNDED } from './fault-bench.js';
import { COUNTING, heldBy, type HeldResources } from './held-resources.js';

/** Starts and stops in all; 1,000 in the long form. */
const CYCLES = verifyCount(60, 5);
/** Before the first count, so that what is made once is there. */
const WARM_UP = 3;
/** What was ended last may take a moment to be closed, milliseconds. */
const SETTLING_MS = 10_000;
/** Cycles that run at once, each with a connection of its own. */
const LANES = ['one', 'two', 'three'];

describe('providers that are started and stopped again and again', () => {
  let bench: MenuBench;
  let pool: Pool;
  let temporary: string;

  beforeAll(async () => {
    temporary = await mkdtemp(join(tmpdir(), 'warren-test-cycles-'));
    bench = await MenuBench.start({ ...UNBOUNDED, TMPDIR: temporary });
    pool = bench.warren.database.pool(COUNTING);
    for (const id of LANES) await bench.connect(id, faultProvider('setsid'));
  });

  afterAll(async () => {
    const { pid } = bench.warren.process;
    await bench.stop();
    for (const left of providersOf(pid)) process.kill(left.pid, 'SIGKILL');
    await rm(temporary, { recursive: true, force: true });
  });

  /** One after the other for each connection; the seen processes of each cycle are at least the provider and its child. */
  async function cycle(id: string, times: number): Promise<void> {
    for (let time = 0; time < times; time += 1) {
      const started = await bench.api.expect(200, 'POST', `/api/connections/${id}/start`);
      expect(started.live).toMatchObject({ state: 'connected', processes: [{}] });
      const stopped = await bench.api.expect(200, 'POST', `/api/connections/${id}/stop`);
      expect(stopped.live.processes).toBeUndefined();
    }
  }

  /** What is held once it is as much as expected, or for long more. */
  async function settled(expected: HeldResources): Promise<HeldResources> {
    const deadline = performance.now() + SETTLING_MS;
    for (;;) {
      const held = await heldBy(bench.warren, pool);
      if (isDeepStrictEqual(held, expected) || performance.now() > deadline) return held;
    }
  }

  const privateDirectories = async (): Promise<string[]> =>
    (await readdir(temporary)).filter((name) => name.startsWith('warren-provider-'));

  it(
    'leave nothing behind',
    async () => {
      await Promise.all(LANES.map((id) => cycle(id, WARM_UP)));
      const before = await heldBy(bench.warren, pool);
      const startsBefore = await startsOf(bench, 'one');
      const each = Math.ceil(CYCLES / LANES.length);
      const begun = performance.now();
      await Promise.all(LANES.map((id) => cycle(id, each)));
      const took = (performance.now() - begun) / each;
      const orphans = providersOf(bench.warren.process.pid);
      await eventually(async () => expect(await privateDirectories()).toEqual([]));
      const after = await settled(before);
      process.stdout.write(
        `${each * LANES.length} cycles, ${LANES.length} at once, ${took.toFixed(0)} ms each: orphans ${orphans.length}, ` +
          `descriptors ${before.descriptors} before and ${after.descriptors} after, ` +
          `children ${before.children} and ${after.children}, private directories 0\n`,
      );
      expect(orphans).toEqual([]);
      expect(after).toEqual(before);
      expect(await startsOf(bench, 'one')).toBe(startsBefore + each);
    },
    120_000 + CYCLES * 2_000,
  );
});
