import {
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
  UnsupportedProtocolVersionError,
} from '@modelcontextprotocol/client';
import type { ProviderFailureReason } from '../../provider-failure.js';
import { LaunchError } from '../../subprocess.js';
import { httpMessage, httpReason, isUnreadable, outboundCause, outboundReason } from './failure-causes.js';
import { type LocalErrorData, localErrorData } from './local-error.js';
import { SessionError } from './session-error.js';

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
  const outbound = outboundCause(error);
  if (outbound !== undefined) return because(outboundReason(outbound), outbound.message);
  if (error instanceof LaunchError) {
    const { reason, message: said, brief } = error;
    return new SessionError('unreachable', said, { reason, brief, retryAfterMs, cause: error });
  }
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
  if (isUnreadable(error)) return because('not_mcp', 'The provider did not answer with MCP.');
  return because('unknown', message);
}

function sdkReason(error: SdkError): ProviderFailureReason {
  switch (error.code) {
    case SdkErrorCode.RequestTimeout:
      return 'handshake_timeout';
    case SdkErrorCode.ClientHttpUnexpectedContent:
    case SdkErrorCode.InvalidResult:
      return 'not_mcp';
    case SdkErrorCode.EraNegotiationFailed:
      return 'protocol_unsupported';
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
