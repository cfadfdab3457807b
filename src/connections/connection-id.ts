import { randomInt } from 'node:crypto';
import { idProblem } from './connection.rules.js';

const MAX_SLUG = 64;
const NUMBERED = 20;
const RANDOM_RANGE = 36 ** 6;

/** An id-safe form of a name: ASCII lower case, other characters as hyphens; `connection` when nothing is left. */
export function slugOf(name: string): string {
  const slug = name
    .normalize('NFKD')
    .replace(/\p{Mark}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_SLUG)
    .replace(/^-+|-+$/g, '');
  return slug === '' ? 'connection' : slug;
}

/** Ids to try for a new connection, best first: the slug, numbered ones, then random endings without end. */
export function* idCandidates(name: string): Generator<string, never> {
  const slug = slugOf(name);
  if (idProblem(slug) === undefined) yield slug;
  for (let number = 2; number <= NUMBERED; number += 1) yield `${slug}-${number}`;
  for (;;) yield `${slug}-${randomInt(RANDOM_RANGE).toString(36).padStart(6, '0')}`;
}
