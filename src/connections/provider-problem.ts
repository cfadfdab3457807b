import { ProblemError } from '../errors.js';
import { maskedError } from '../masked-error.js';
import type { Redactor } from '../redactor.js';
import { SessionError } from './session/session-error.js';

/** Longest detail shown; a provider's own words may be long. */
const MAX_DETAIL = 1_000;
/** When it makes sense to ask again, seconds. */
const BUSY_SECONDS = 1;

/**
 * What an operator is answered when a provider cannot be reached: `provider_unreachable` (502) with its reason, or
 * `provider_timeout` (504); `busy` (503) when a bound of this server or of the connection is reached. Any other error passes through, masked: a log may show it.
 */
export function toProviderProblem(error: unknown, redactor: Redactor): unknown {
  if (error instanceof ProblemError) return error;
  const cause = maskedError(error, redactor);
  if (!(error instanceof SessionError)) return cause;
  const detail = redactor.text(error.message).text.slice(0, MAX_DETAIL);
  if (error.kind === 'busy') return new ProblemError('busy', detail, { retryAfterSeconds: BUSY_SECONDS, cause });
  if (error.kind === 'timeout') return new ProblemError('provider_timeout', detail, { cause });
  return new ProblemError('provider_unreachable', detail, { reason: error.reason ?? 'unknown', cause });
}
