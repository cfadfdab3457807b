import { type FieldProblem, type ProblemCode, ProblemError } from '../errors.js';

/** Enough for any form; the rest would not be read. */
const MAX_ERRORS = 100;

/**
 * Throws a problem for these fields; does nothing when there are none. The detail names the first, `errors` all.
 * Errors: the problem with this code.
 */
export function refuseFields(code: ProblemCode, summary: string, errors: readonly FieldProblem[]): void {
  const [first] = errors;
  if (first === undefined) return;
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  throw new ProblemError(code, `${summary}: ${first.path} ${first.message}${more}.`, {
    errors: errors.slice(0, MAX_ERRORS),
  });
}
