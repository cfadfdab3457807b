import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type RevocationBench, startRevocationBench } from './revocation.bench.js';
import { replacedGrants, revocationKinds } from './revocation.kinds.js';
import { lockAndFactsInOneStatement, locksNotHeld, slow, withoutLocks } from './revocation.mutations.js';
import { emptyTally, runTrial, type Tally } from './revocation.trial.js';

/** Revocations of each kind. */
const COUNT = Number(process.env['WARREN_VERIFY_COUNT'] ?? 15);
const SEED = Number(process.env['WARREN_VERIFY_SEED'] ?? 1);
/** Ample for one revocation with its preparation and restoration, milliseconds. */
const TRIAL_MS = 3_000;
/** Within so many revocations a leak of the kinds below has always shown; most show in the first few. */
const MUTATION_TRIALS = 100;
const SLOW_TRIALS = 5;

describe('revocation is immediate', () => {
  let bench: RevocationBench;
  const tallies = new Map<string, Tally>();

  beforeAll(async () => {
    bench = await startRevocationBench({ seed: SEED });
  });

  afterAll(async () => {
    process.stdout.write(tableOf(tallies));
    await bench.stop();
  });

  it.each(Object.entries(revocationKinds))(
    '%s: no call begins to be written after the acknowledgement',
    async (kind, prepare) => {
      const tally = emptyTally();
      tallies.set(kind, tally);
      while (tally.revocations < COUNT) await runTrial(bench, prepare, tally);
      expect(tally.violations).toEqual([]);
      // the load was real: calls arrived and every caller was refused afterwards
      expect(tally.arrivals).toBeGreaterThan(COUNT);
      expect(tally.refusedAfter).toBeGreaterThanOrEqual(4 * COUNT);
    },
    30_000 + COUNT * TRIAL_MS,
  );
});

describe('an admission that is made otherwise', () => {
  /** Without hints from the database, which cancel a call that has not been written yet and so hide most of a leak. */
  const noHints = { WARREN_DB_POOLER: 'transaction' };

  async function trials(sql: string, bound: number): Promise<Tally> {
    const changed = await startRevocationBench({ sql, seed: SEED, environment: noHints });
    const tally = emptyTally();
    try {
      while (tally.violations.length === 0 && tally.revocations < bound) {
        await runTrial(changed, replacedGrants, tally, { callers: [1, 8], through: 0 });
      }
    } finally {
      await changed.stop();
    }
    return tally;
  }

  it.each([
    { admission: 'without locks', sql: withoutLocks },
    { admission: 'with lock and facts in one statement', sql: lockAndFactsInOneStatement },
    { admission: 'with locks that are not held until the write', sql: locksNotHeld },
  ])(
    '$admission lets revoked calls through',
    async ({ admission, sql }) => {
      const { revocations, violations } = await trials(sql(), MUTATION_TRIALS);
      process.stdout.write(`admission ${admission}: ${violations.length} violations in revocation ${revocations}\n`);
      expect(violations).not.toEqual([]);
    },
    30_000 + MUTATION_TRIALS * TRIAL_MS,
  );

  it('as slow as the last of these, but with its locks held, lets none through', async () => {
    expect(await trials(slow(), SLOW_TRIALS)).toMatchObject({ revocations: SLOW_TRIALS, violations: [] });
  });
});

function tableOf(tallies: ReadonlyMap<string, Tally>): string {
  const columns = ['kind', 'revocations', 'calls', 'arrivals', 'violations', 'refused after'];
  const rows = [...tallies].map(([kind, { revocations, calls, arrivals, violations, refusedAfter }]) => [
    kind,
    ...[revocations, calls, arrivals, violations.length, refusedAfter].map(String),
  ]);
  const lines = [columns, ...rows].map(
    ([kind = '', ...figures]) => `${kind.padEnd(24)}${figures.map((figure) => figure.padStart(15)).join('')}`,
  );
  return `\n${lines.join('\n')}\n\n`;
}
