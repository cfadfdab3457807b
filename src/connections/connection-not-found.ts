import { ProblemError } from '../errors.js';

/** The one answer for a connection that is not there. */
export function connectionNotFound(): ProblemError {
  return new ProblemError('connection_not_found', 'There is no connection of this id.');
}
