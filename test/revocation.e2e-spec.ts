import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type RevocationBench, startRevocationBench } from './revocation.bench.js';
import { replacedGrants, revocationKinds } from './revocation.kinds.js';
import { lockAndFactsInOneStatement, locksNotHeld, withoutLocks } from './revocation.mutations.js';
import { emptyTally, runTrial, type Tally } from './revocation.trial.js';

/** Revocations of each kind. */
const COUNT = Number(process.env['WARREN_VERIFY_COUNT'] ?? 15);
const SEED = Number(process.env['WARREN_VERIFY_SEED'] ?? 1);
/** Ample for one revocation with its preparation and restoration, milliseconds. */
const TRIAL_MS = 3_000;
/** Within so many revocations a leak of the kinds below has always shown; most show in the first few. */
const MUTATION_TRIALS = 60;

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
  it.each([
    { admission: 'without locks', sql: withoutLocks },
    { admission: 'with lock and facts in one statement', sql: lockAndFactsInOneStatement },
    { admission: 'with locks that are not held until the write', sql: locksNotHeld },
  ])(
    '$admission lets revoked calls through',
    async ({ admission, sql }) => {
      const mutated = await startRevocationBench({ sql: sql(), seed: SEED });
      const tally = emptyTally();
      try {
        while (tally.violations.length === 0 && tally.revocations < MUTATION_TRIALS) {
          await runTrial(mutated, replacedGrants, tally, { callers: [1, 8], through: 0 });
        }
      } finally {
        await mutated.stop();
      }
      const { revocations, violations } = tally;
      process.stdout.write(`admission ${admission}: ${violations.length} violations in revocation ${revocations}\n`);
      expect(violations).not.toEqual([]);
    },
    30_000 + MUTATION_TRIALS * TRIAL_MS,
  );
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
