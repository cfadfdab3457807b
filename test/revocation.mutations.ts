import { admission } from '../migrations/0006-admission.js';

/** The three statements of `admit_call` that take the shared locks. */
const LOCKS = /^ *perform pg_advisory_xact_lock_shared\(\d, hashtext\(\w+\)\);\n/gm;
const FACTS = /^ *select \* into facts from (call_facts\([^)]*\));\n/m;

/** `admit_call` as it is, to be put in place of itself. */
function admitCall(): string {
  const text = admission.up.slice(admission.up.indexOf('create function admit_call('));
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

/** Admission that lets the locks go when it has read the facts, before the call is written. */
export function locksNotHeld(): string {
  const text = changed(admitCall(), /pg_advisory_xact_lock_shared/g, 'pg_advisory_lock_shared');
  const releases = [...text.matchAll(/pg_advisory_lock_shared\(\d, hashtext\(\w+\)\)/g)].map(
    ([call]) => `perform ${call.replace('lock_shared', 'unlock_shared')};\n`,
  );
  if (releases.length !== 3) throw new Error('admit_call does not take three locks');
  return changed(text, 'return next;', `${releases.join('')}return next;`);
}

/** Errors: when nothing is there to be replaced, so that no test passes on the function as it was. */
function changed(text: string, what: string | RegExp, by: string): string {
  const result = text.replace(what, by);
  if (result === text) throw new Error(`admit_call holds no ${String(what)}`);
  return result;
}
