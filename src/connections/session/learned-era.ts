import type { LearnedEra } from '../../database.schema.js';

/** For so long after a provider was seen to speak an era, its exit is no sign of another, milliseconds. */
const TRUSTED_MS = 86_400_000;
/** A note that is older is renewed, so that one of a provider in use never gets too old. */
const FRESH_MS = TRUSTED_MS / 2;

/** Whether what was learned is recent enough to speak against another era. `now` in milliseconds since 1970. */
export function isTrustedEra(known: LearnedEra | null, now = Date.now()): boolean {
  return known !== null && ageOf(known, now) < TRUSTED_MS;
}

/** Whether this sight of an era is worth noting: another one than known, or what is known is not fresh. */
export function isNewsOfEra(known: LearnedEra | null, seen: LearnedEra['era'], now = Date.now()): boolean {
  return known?.era !== seen || ageOf(known, now) >= FRESH_MS;
}

function ageOf({ learnedAt }: LearnedEra, now: number): number {
  return now - Date.parse(learnedAt);
}
