import { oauthAdmission } from '../migrations/0011-oauth-admission.js';

/** The three statements of `admit_call` that take the shared locks. */
const LOCKS = /^ *perform pg_advisory_xact_lock_shared\(\d, hashtext\(\w+\)\);\n/gm;
const FACTS = /^ *select \* into facts from (call_facts\([^)]*\));\n/m;
const RETURN = 'return next;';
/** Makes the moment between check and write long enough to be hit. */
const PAUSE = 'perform pg_sleep(0.1);\n';

/** `admit_call` as it is, to be put in place of itself. */
function admitCall(): string {
  const text = oauthAdmission.up.slice(oauthAdmission.up.indexOf('create function admit_call('));
  return changed(text, 'create function', 'create or replace function');
}

/** Admission that reads the facts without taking the locks. */
export function withoutLocks(): string {
  const text = admitCall();
  if (text.match(LOCKS)?.length !== 3) throw new Error('admit_call does not take three locks');
  return changed(text, LOCKS, '');
}

/** Admission that takes the locks in the statement that reads the facts, whose snapshot is older than the locks. */
export function lockAndFactsInOneStatement(): string {
  const calls = [...admitCall().matchAll(LOCKS)].map(([line]) => line.replace(/^ *perform |;\n$/g, ''));
  if (calls.length !== 3) throw new Error('admit_call does not take three locks');
  const together = `with locks as materialized (select ${calls.join(', ')}) select call.* into facts from locks, $1 as call;\n`;
  return changed(withoutLocks(), FACTS, together);
}

/** Admission that takes this long before it answers, its locks held: slower, and just as safe. */
export function slow(): string {
  return changed(admitCall(), RETURN, `${PAUSE}${RETURN}`);
}

/** The same with the locks let go before the pause, so that nothing is held between the check and the write. */
export function locksNotHeld(): string {
  const text = changed(slow(), /pg_advisory_xact_lock_shared/g, 'pg_advisory_lock_shared');
  const releases = [...text.matchAll(/pg_advisory_lock_shared(\(\d, hashtext\(\w+\)\))/g)].map(
    ([, key = '']) => `perform pg_advisory_unlock_shared${key};\n`,
  );
  if (releases.length !== 3) throw new Error('admit_call does not take three locks');
  return changed(text, PAUSE, `${releases.join('')}${PAUSE}`);
}

/** Errors: when nothing is there to be replaced, so that no test passes on the function as it was. */
function changed(text: string, what: string | RegExp, by: string): string {
  const result = text.replace(what, by);
  if (result === text) throw new Error(`admit_call holds no ${String(what)}`);
  return result;
}
