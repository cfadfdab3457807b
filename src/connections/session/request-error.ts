import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError, UnauthorizedError } from '@modelcontextprotocol/client';
import type { OutboundError } from '../../outbound-error.js';
import { httpMessage, httpReason, isUnreadable, outboundCause, outboundReason } from './failure-causes.js';
import { localErrorData } from './local-error.js';
import { type Sent, SessionError } from './session-error.js';

/**
 * Translates what a request on an open session throws. `sent` is what the gate or transport knows; `retryAfterMs` what
 * the provider last asked for.
 */
export function toRequestError(error: unknown, sent: Sent, retryAfterMs?: number): SessionError {
  if (error instanceof SessionError) return error;
  const outbound = outboundCause(error);
  if (outbound !== undefined) return fromOutboundError(outbound, error);
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
  if (isUnreadable(error)) return notAResult(error);
  return new SessionError('interrupted', error instanceof Error ? error.message : String(error), {
    sent,
    cause: error,
  });
}

function fromOutboundError(outbound: OutboundError, cause: unknown): SessionError {
  const { reason, message, sent } = outbound;
  if (reason === 'message_too_large') return new SessionError('too_large', message, { sent: 'yes', cause });
  if (reason === 'admission_expired') {
    return new SessionError('busy', 'The call could not be written in time.', { sent: 'no', cause });
  }
  return sent === 'no'
    ? new SessionError('unreachable', message, { reason: outboundReason(outbound), sent, cause })
    : new SessionError('interrupted', message, { sent, cause });
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

function fromSdkError(error: SdkError, sent: Sent): SessionError {
  switch (error.code) {
    case SdkErrorCode.RequestTimeout:
      return new SessionError('timeout', 'The provider did not answer in time.', { sent, cause: error });
    case SdkErrorCode.ConnectionClosed:
    case SdkErrorCode.NotConnected:
      return new SessionError('interrupted', 'The session broke before the answer came.', { sent, cause: error });
    case SdkErrorCode.ClientHttpUnexpectedContent:
      return new SessionError('protocol_error', `The provider did not answer with MCP: ${error.message}`, {
        sent: 'yes',
        cause: error,
      });
    default:
      return /input.?required/i.test(`${error.code} ${error.message}`)
        ? new SessionError('input_required', 'The provider asks for interaction.', { sent: 'yes', cause: error })
        : new SessionError('protocol_error', error.message, { sent, cause: error });
  }
}

function asksForPause({ status }: SdkHttpError): boolean {
  return status === 429 || status === 503;
}
