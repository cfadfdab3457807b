import type { ProviderFailureReason } from '../../provider-failure.js';

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
  /** What agents are told in place of the message, where that names places of this machine. */
  brief?: string;
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
  /** For agents; the message is for operators. */
  readonly brief: string;
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
    this.brief = details.brief ?? message;
    this.retryAfterMs = details.retryAfterMs;
  }
}

/**
 * The provider no longer knows the session (it refused a request that named it): a new one may be opened and the operation
 * run once more. To everyone else an interruption.
 */
export class SessionLostError extends SessionError {
  constructor(sent: Sent, cause: Error & { status?: number | undefined }) {
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
