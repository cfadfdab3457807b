import type { ConnectionLaunch } from '../connections/connection.launch.js';
import { toProviderProblem } from '../connections/provider-problem.js';
import { SessionError } from '../connections/session/session-error.js';
import { ProblemError } from '../errors.js';
import { maskedError } from '../masked-error.js';
import type { ProviderFailureReason } from '../provider-failure.js';
import { toStorableText } from '../storable-text.js';
import { CatalogLimitError, CatalogProtocolError } from './tool-page-reader.js';

/** Longest parts of the detail, characters: what happened, and the last words on standard error. */
const MAX_MESSAGE = 1_000;
const MAX_TAIL = 2_000;
const TIMEOUT_REASONS = new Set<ProviderFailureReason>(['handshake_timeout', 'connection_timeout']);

/**
 * What an operator is answered when a catalog cannot be read: `provider_timeout` (504) or `provider_unreachable` (502),
 * with a stable reason, the words for it and the last of standard error. Any other error passes through, masked: a log
 * may show it.
 */
export function toDiscoveryProblem(error: unknown, launch: ConnectionLaunch): unknown {
  if (error instanceof SessionError && error.kind === 'busy') return toProviderProblem(error, launch.redactor);
  const failure = failureOf(error, launch);
  if (failure === undefined) return error instanceof ProblemError ? error : maskedError(error, launch.redactor);
  const code = TIMEOUT_REASONS.has(failure.reason) ? 'provider_timeout' : 'provider_unreachable';
  const clean = (text: string): string => toStorableText(launch.redactor.text(text).text);
  const tail = clean(failure.stderrTail).trim().slice(-MAX_TAIL);
  const detail = clean(failure.message).slice(0, MAX_MESSAGE) + (tail === '' ? '' : `\nstandard error: ${tail}`);
  return new ProblemError(code, detail, { reason: failure.reason, cause: maskedError(error, launch.redactor) });
}

interface Failure {
  reason: ProviderFailureReason;
  message: string;
  stderrTail: string;
}

function failureOf(error: unknown, launch: ConnectionLaunch): Failure | undefined {
  if (error instanceof CatalogLimitError) {
    return { reason: 'message_too_large', message: `${sentence(error.message)} Nothing was stored.`, stderrTail: '' };
  }
  if (error instanceof CatalogProtocolError) {
    return { reason: 'not_mcp', message: sentence(error.message), stderrTail: '' };
  }
  if (!(error instanceof SessionError)) return undefined;
  return {
    reason: error.reason ?? reasonOf(error, launch),
    message:
      error.kind === 'provider_error' ? `The provider refused to list its tools: ${error.message}` : error.message,
    stderrTail: error.stderrTail ?? '',
  };
}

/** For the failures of an open session, which name no reason of their own. */
function reasonOf({ kind }: SessionError, { transport }: ConnectionLaunch): ProviderFailureReason {
  switch (kind) {
    case 'timeout':
      return 'connection_timeout';
    case 'interrupted':
      return transport === 'stdio' ? 'process_exited' : 'http_error';
    case 'too_large':
      return 'message_too_large';
    case 'protocol_error':
      return 'not_mcp';
    case 'input_required':
      return 'protocol_unsupported';
    case 'unreachable':
    case 'cancelled':
    case 'provider_error':
    case 'busy':
    default:
      return 'unknown';
  }
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
