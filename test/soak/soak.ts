// `npm run soak [short]`: one Warren under load and one fault after the other, until it is warm and then for ten minutes, or
// for one minute in all. Prints samples and every bound with what was measured; the exit code is 1 when a bound is missed.
// With SOAK_SNAPSHOTS=<directory> it writes heap snapshots of the first and the last sample there; with SOAK_UNOPTIMISED=1
// Warren runs without the optimising compiler, slower, and what its heap grows by is its own.
import { startTestServer } from '../support/test-server.js';
import { conduct } from './soak.conduct.js';
import { faults } from './soak.faults.js';
import { soakForms } from './soak.forms.js';
import { startHouse, type House } from './soak.house.js';
import { Ledger } from './soak.ledger.js';
import { report, say } from './soak.report.js';
import { settledFigures } from './soak.settle.js';
import { isKept, verdicts } from './soak.verdict.js';
import { FaultWindows } from './soak.windows.js';
import { inWords } from './soak.words.js';

/** For the start, the quiet after the load and the end, milliseconds. */
const AROUND_LOAD_MS = 120_000;
const [name = 'full', ...others] = process.argv.slice(2);
if ((name !== 'full' && name !== 'short') || others.length > 0) throw new Error('usage: npm run soak [full|short]');
const form = soakForms[name];

const interrupted = new Promise<never>((_, reject) => {
  const give = (why: string) => () => reject(new Error(why));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, give(`stopped by ${signal}`));
  setTimeout(give('not finished in time'), form.warmAtMostMs + form.steadyMs * 1.5 + AROUND_LOAD_MS).unref();
});
// heard of when the house stands
interrupted.catch(() => undefined);

const stopServer = await startTestServer();
try {
  const house = await startHouse();
  try {
    const isGood = await Promise.race([soak(house), interrupted]);
    process.exitCode = isGood ? 0 : 1;
  } finally {
    await house.stop();
  }
} catch (error) {
  say(`the soak broke off: ${inWords(error)}`);
  process.exitCode = 1;
} finally {
  await stopServer();
}
// callers and faults of a soak that broke off may still wait
process.exit();

/** False when a bound is missed. */
async function soak(house: House): Promise<boolean> {
  const windows = new FaultWindows();
  const ledger = new Ledger(windows);
  const snapshots = process.env['SOAK_SNAPSHOTS'];
  const before = await settledFigures(house);
  const conducted = await conduct({ house, ledger, windows, faults, form, say, snapshots });
  const after = await settledFigures(house, before);
  const arrivals = ledger.compare(house.arrivals.counts());
  const judged = verdicts({ form, faults, ledger, arrivals, conduct: conducted, before, after });
  report({ ledger, conduct: conducted, before, after, verdicts: judged });
  return judged.every(isKept);
}
