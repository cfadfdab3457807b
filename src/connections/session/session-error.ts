import {
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
  UnsupportedProtocolVersionError,
} from '@modelcontextprotocol/client';
import { OutboundError } from '../../outbound-error.js';
import type { ProviderFailureReason } from '../../provider-failure.js';
import { LaunchError } from '../../subprocess.js';

/** Whether a request may have reached the provider. */
export type Sent = 'no' | 'maybe' | 'yes';

export type SessionErrorKind =
  /** The session could not be opened; `reason` says why. */
  | 'unreachable'
  | 'timeout'
  | 'cancelled'
  /** The session broke while the request was under way. */
  | 'interrupted'
  /** The provider answered with a JSON-RPC error. */
  | 'provider_error'
  | 'input_required'
  | 'too_large'
  | 'protocol_error'
  /** A bound of this server or connection is reached. */
  | 'busy';

interface SessionErrorDetails {
  reason?: ProviderFailureReason;
  sent?: Sent;
  /** The provider's own JSON-RPC error. */
  provider?: { code: number; message: string };
  stderrTail?: string;
  /** When it may be worth trying again, milliseconds. */
  retryAfterMs?: number | undefined;
  cause?: unknown;
}

/** Every failure of a session, in one closed form. The message is for operators and holds no secret of ours. */
export class SessionError extends Error {
  readonly reason: ProviderFailureReason | undefined;
  readonly sent: Sent;
  readonly provider: { code: number; message: string } | undefined;
  readonly stderrTail: string | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(
    readonly kind: SessionErrorKind,
    message: string,
    details: SessionErrorDetails = {},
  ) {
    super(message, { cause: details.cause });
    this.name = 'SessionError';
    this.reason = details.reason;
    this.sent = details.sent ?? 'no';
    this.provider = details.provider;
    this.stderrTail = details.stderrTail;
    this.retryAfterMs = details.retryAfterMs;
  }
}

/**
 * The provider no longer knows the session (404 to a request that named it): a new one may be opened and the operation
 * run once more. To everyone else an interruption.
 */
export class SessionLostError extends SessionError {
  constructor(sent: Sent, cause: SdkHttpError) {
    const message = `The provider no longer knows the session (HTTP ${cause.status ?? 'error'}).`;
    super('interrupted', message, { reason: 'http_error', sent, cause });
  }
}

/** Failures that time may mend; the others need an operator, or another provider. */
const PASSING = new Set<ProviderFailureReason>([
  'process_exited',
  'handshake_timeout',
  'dns_failed',
  'connection_refused',
  'connection_unreachable',
  'connection_timeout',
  'http_error',
  'unknown',
]);

/** Whether starting again later may help by itself. */
export function isPassing({ kind, reason }: SessionError): boolean {
  return (
    kind === 'busy' || (kind === 'unreachable' && reason !== undefined && PASSING.has(reason)) || kind === 'timeout'
  );
}

/** JSON-RPC error code of the errors this client puts in place of an answer that cannot come. */
export const LOCAL_ERROR_CODE = -32_099;
export type LocalErrorData = { warren: 'interrupted' | 'too_large' | 'malformed' };

/** What it means for a session that opens when the answer to its handshake cannot come. */
const OPEN_FAILURES: Record<LocalErrorData['warren'], [ProviderFailureReason, string]> = {
  interrupted: ['http_error', 'The connection broke during the handshake.'],
  too_large: ['message_too_large', 'The answer to the handshake is larger than this server reads.'],
  malformed: ['not_mcp', 'The provider answered the handshake with something that is no result.'],
};

/**
 * Translates what the SDK, the safe fetch or the launcher throws while a session opens. `retryAfterMs` is what the
 * provider last asked for.
 */
export function toOpenError(error: unknown, retryAfterMs?: number): SessionError {
  if (error instanceof SessionError) return error;
  const because = (reason: ProviderFailureReason, message: string): SessionError =>
    new SessionError('unreachable', message, { reason, retryAfterMs, cause: error });
  const outbound = findCause(error, (cause) => (cause instanceof OutboundError ? cause : undefined));
  if (outbound !== undefined) return because(outboundReason(outbound), outbound.message);
  if (error instanceof LaunchError) return because(error.reason, error.message);
  if (error instanceof UnauthorizedError)
    return because('auth_required', 'The provider asks for authentication (401).');
  if (error instanceof SdkHttpError) return because(httpReason(error), httpMessage(error));
  if (error instanceof UnsupportedProtocolVersionError) return because('protocol_unsupported', error.message);
  if (error instanceof ProtocolError) {
    const local = localErrorData(error);
    if (local !== undefined) return because(...OPEN_FAILURES[local.warren]);
    return because('protocol_unsupported', `The provider refused the handshake: ${error.message}`);
  }
  if (error instanceof SdkError) return because(sdkReason(error), sdkMessage(error));
  const message = error instanceof Error ? error.message : String(error);
  if (/protocol version is not supported/i.test(message)) return because('protocol_unsupported', message);
  if (error instanceof Error && UNREADABLE.has(error.name))
    return because('not_mcp', 'The provider did not answer with MCP.');
  return because('unknown', message);
}

/** What a body that is no JSON, or JSON that is no JSON-RPC, is reported as. */
const UNREADABLE = new Set(['SyntaxError', 'ZodError', '$ZodError']);

/**
 * Translates what a request on an open session throws. `sent` is what the gate or transport knows; `retryAfterMs` what
 * the provider last asked for.
 */
export function toRequestError(error: unknown, sent: Sent, retryAfterMs?: number): SessionError {
  if (error instanceof SessionError) return error;
  const outbound = findCause(error, (cause) => (cause instanceof OutboundError ? cause : undefined));
  if (outbound !== undefined) {
    if (outbound.reason === 'message_too_large')
      return new SessionError('too_large', outbound.message, { sent: 'yes', cause: error });
    if (outbound.reason === 'admission_expired')
      return new SessionError('busy', 'The call could not be written in time.', { sent: 'no', cause: error });
    const neverSent = outbound.sent === 'no';
    return neverSent
      ? new SessionError('unreachable', outbound.message, {
          reason: outboundReason(outbound),
          sent: 'no',
          cause: error,
        })
      : new SessionError('interrupted', outbound.message, { sent: 'maybe', cause: error });
  }
  if (error instanceof ProtocolError) return fromProtocolError(error);
  if (error instanceof UnauthorizedError) {
    return new SessionError('unreachable', 'The provider asks for authentication (401).', {
      reason: 'auth_required',
      sent,
      cause: error,
    });
  }
  if (error instanceof SdkHttpError) {
    return new SessionError('unreachable', httpMessage(error), {
      reason: httpReason(error),
      sent,
      retryAfterMs: asksForPause(error) ? retryAfterMs : undefined,
      cause: error,
    });
  }
  if (error instanceof SdkError) return fromSdkError(error, sent);
  if (error instanceof Error && UNREADABLE.has(error.name)) return notAResult(error);
  return new SessionError('interrupted', error instanceof Error ? error.message : String(error), {
    sent,
    cause: error,
  });
}

function notAResult(error: Error): SessionError {
  return new SessionError('protocol_error', 'The provider answered with something that is no result.', {
    sent: 'yes',
    cause: error,
  });
}

function fromProtocolError(error: ProtocolError): SessionError {
  const local = localErrorData(error);
  if (local?.warren === 'too_large') {
    return new SessionError('too_large', 'The answer is larger than this server reads.', { sent: 'yes', cause: error });
  }
  if (local?.warren === 'malformed') return notAResult(error);
  if (local?.warren === 'interrupted') {
    return new SessionError('interrupted', 'The session broke before the answer came.', {
      sent: 'maybe',
      cause: error,
    });
  }
  return new SessionError('provider_error', error.message, {
    sent: 'yes',
    provider: { code: error.code, message: error.message },
    cause: error,
  });
}

function localErrorData(error: ProtocolError): LocalErrorData | undefined {
  return error.code === LOCAL_ERROR_CODE &&
    typeof error.data === 'object' &&
    error.data !== null &&
    'warren' in error.data
    ? (error.data as LocalErrorData)
    : undefined;
}

function fromSdkError(error: SdkError, sent: Sent): SessionError {
  switch (error.code) {
    case SdkErrorCode.RequestTimeout:
      return new SessionError('timeout', 'The provider did not answer in time.', { sent, cause: error });
    case SdkErrorCode.ConnectionClosed:
    case SdkErrorCode.NotConnected:
      return new SessionError('interrupted', 'The session broke before the answer came.', { sent, cause: error });
    default:
      return /input.?required/i.test(`${error.code} ${error.message}`)
        ? new SessionError('input_required', 'The provider asks for interaction.', { sent: 'yes', cause: error })
        : new SessionError('protocol_error', error.message, { sent, cause: error });
  }
}

function outboundReason(error: OutboundError): ProviderFailureReason {
  switch (error.reason) {
    case 'redirect_refused':
      return 'http_error';
    case 'admission_expired':
      return 'unknown';
    default:
      return error.reason;
  }
}

function httpReason(error: SdkHttpError): ProviderFailureReason {
  if (error.status === 401) return 'auth_required';
  if (error.status === 403) return 'auth_forbidden';
  return 'http_error';
}

function asksForPause({ status }: SdkHttpError): boolean {
  return status === 429 || status === 503;
}

function httpMessage(error: SdkHttpError): string {
  const said = `HTTP ${error.status ?? 'error'}${error.statusText ? ` ${error.statusText}` : ''}`;
  if (error.status === 401) return `The provider asks for authentication (${said}).`;
  if (error.status === 403) return `The provider denies access (${said}).`;
  return `The provider answered ${said}.`;
}

function sdkReason(error: SdkError): ProviderFailureReason {
  switch (error.code) {
    case SdkErrorCode.RequestTimeout:
      return 'handshake_timeout';
    case SdkErrorCode.ClientHttpUnexpectedContent:
    case SdkErrorCode.InvalidResult:
    case SdkErrorCode.EraNegotiationFailed:
      return 'not_mcp';
    case SdkErrorCode.ConnectionClosed:
      return 'process_exited';
    default:
      return 'unknown';
  }
}

function sdkMessage(error: SdkError): string {
  switch (error.code) {
    case SdkErrorCode.RequestTimeout:
      return 'The provider did not answer the handshake in time.';
    case SdkErrorCode.ClientHttpUnexpectedContent:
      return `The provider did not answer with MCP: ${error.message}`;
    default:
      return error.message;
  }
}

/** Looks through an error and its causes, at most 8 deep. */
function findCause<T>(error: unknown, match: (cause: unknown) => T | undefined): T | undefined {
  let current = error;
  for (let depth = 0; depth < 8 && current !== undefined && current !== null; depth += 1) {
    const found = match(current);
    if (found !== undefined) return found;
    current = current instanceof Error ? current.cause : undefined;
  }
  return undefined;
}
