import { ProblemError } from '../errors.js';

/** For a cursor that can be read but is none of this list's. */
export function invalidCursor(): ProblemError {
  return new ProblemError('cursor_invalid', 'cursor must be the nextCursor of an earlier page of the same list.', {
    errors: [{ path: 'cursor', message: 'must be the nextCursor of an earlier page' }],
  });
}
