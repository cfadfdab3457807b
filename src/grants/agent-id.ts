import { randomInt } from 'node:crypto';

const MAX_LENGTH = 96;

/** `mod.` marks providers that are mods; `.` and `..` cannot be addressed, because URL parsers resolve them away. */
export const AGENT_ID = /^(?!mod\.|\.{1,2}$)[A-Za-z0-9._-]{1,96}$/;
export const AGENT_ID_HINT =
  'must have 1 to 96 characters of A-Z a-z 0-9 . _ - and must not start with "mod." or be "." or ".."';

/** Plain suffixes are tried first because they read well; random ones end the search also among many namesakes. */
const PLAIN_SUFFIXES = 9;
const RANDOM_SUFFIXES = 20;
const RANDOM_LENGTH = 8;
const RANDOM_CHARACTERS = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** The name in lower case ASCII with `-` between words; `agent` when nothing of it remains. */
export function slugOf(name: string): string {
  const words = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-');
  return words.slice(0, MAX_LENGTH).replace(/^-+|-+$/g, '') || 'agent';
}

/** Ids to try for an agent of this name, best first; finite, the last ones practically never taken. */
export function* candidateIds(name: string): Generator<string> {
  const slug = slugOf(name);
  yield slug;
  for (let number = 2; number < 2 + PLAIN_SUFFIXES; number += 1) yield withSuffix(slug, String(number));
  for (let attempt = 0; attempt < RANDOM_SUFFIXES; attempt += 1) yield withSuffix(slug, randomSuffix());
}

function withSuffix(slug: string, suffix: string): string {
  return `${slug.slice(0, MAX_LENGTH - suffix.length - 1)}-${suffix}`;
}

function randomSuffix(): string {
  return Array.from({ length: RANDOM_LENGTH }, () =>
    RANDOM_CHARACTERS.charAt(randomInt(RANDOM_CHARACTERS.length)),
  ).join('');
}
