import { ProblemError } from '../errors.js';

/** The entity tag of a revision, quotes included. */
export function entityTag(revision: number): string {
  return `"${revision}"`;
}

/**
 * Compares an `If-Match` header (RFC 9110: a list of entity tags, or `*`) with the current revision; without the header
 * anything goes.
 * Errors: `stale_revision` (412), also for a weak tag or one that is none, which can never match.
 */
export function requireRevision(ifMatch: string | undefined, revision: number): void {
  if (ifMatch === undefined) return;
  const tags = new Set(ifMatch.split(',').map((tag) => tag.trim()));
  if (tags.has('*') || tags.has(entityTag(revision))) return;
  throw new ProblemError(
    'stale_revision',
    `The resource is at revision ${revision}; read it again before changing it.`,
  );
}
