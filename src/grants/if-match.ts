import { invalidField, ProblemError } from '../errors.js';

const TAG = /^(W\/)?"([\x21\x23-\x7e]*)"$/;
const MAX_LENGTH = 1_000;

/** The entity tag of a revision. */
export function entityTag(revision: number): string {
  return `"${revision}"`;
}

/**
 * Holds a request to the revision it was made for. No header, or `*`, fits every revision; weak tags fit none
 * (RFC 9110, section 13.1.1: If-Match compares strongly).
 * Errors: `stale_revision`, or `validation_failed` for what is no list of entity tags.
 */
export function requireMatch(ifMatch: string | undefined, revision: number): void {
  if (ifMatch === undefined || ifMatch.trim() === '*') return;
  const tags = ifMatch.length > MAX_LENGTH ? [] : ifMatch.split(',').map((tag) => tag.trim());
  if (tags.length === 0 || !tags.every((tag) => TAG.test(tag))) {
    throw invalidField('If-Match', 'must be the ETag of an earlier answer, such as "3", or *');
  }
  if (tags.includes(entityTag(revision))) return;
  throw new ProblemError(
    'stale_revision',
    `The current revision is ${revision}; read it again, then repeat the change.`,
  );
}
