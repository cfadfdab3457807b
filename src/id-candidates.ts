import { randomInt } from 'node:crypto';

/** Short enough that every suffix below still fits an id of 96 characters. */
const MAX_SLUG = 64;
const LAST_NUMBER = 20;
const RANDOM_SUFFIXES = 20;
const RANDOM_RANGE = 36 ** 6;

/** An id-safe form of a name: ASCII lower case, other characters as hyphens; `fallback` when nothing is left. */
export function slugOf(name: string, fallback: string): string {
  const slug = name
    .normalize('NFKD')
    .replace(/\p{Mark}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_SLUG)
    .replace(/^-+|-+$/g, '');
  return slug === '' ? fallback : slug;
}

/**
 * Ids to try for something new of this name, best first: the slug, unless it is reserved, then numbered ones, which read
 * well, then random ones, which are practically never taken. Finite.
 */
export function* idCandidates(
  name: string,
  fallback: string,
  isReserved: (id: string) => boolean = () => false,
): Generator<string> {
  const slug = slugOf(name, fallback);
  if (!isReserved(slug)) yield slug;
  for (let number = 2; number <= LAST_NUMBER; number += 1) yield `${slug}-${number}`;
  for (let attempt = 0; attempt < RANDOM_SUFFIXES; attempt += 1) {
    yield `${slug}-${randomInt(RANDOM_RANGE).toString(36).padStart(6, '0')}`;
  }
}
