import type { SessionError } from '../connections/session/session-error.js';
import type { ProviderFailureReason } from '../provider-failure.js';
import { CallFailure } from './call-failure.js';

/** JSON-RPC error by which a provider of revision 2025-11-25 asks for a page to be opened first. */
const URL_ELICITATION_REQUIRED = -32_042;

/** JSON-RPC error by which a provider of revision 2026-07-28 refuses a request whose headers it does not expect. */
const HEADER_MISMATCH = -32_020;

/** Only a change of the connection helps against these. */
const OPERATOR_REASONS = new Set<ProviderFailureReason>([
  'executable_not_found',
  'executable_not_permitted',
  'egress_denied',
  'not_mcp',
  'protocol_unsupported',
  'tls_verification_failed',
]);

/** What a session error means to the caller of one tool. `secretFree` masks what the provider said. */
export function toCallFailure(
  error: SessionError,
  providerName: string,
  secretFree: (text: string) => string,
): CallFailure {
  const message = secretFree(error.brief);
  const { sent, reason } = error;
  const needsOperator = reason !== undefined && OPERATOR_REASONS.has(reason);
  switch (error.kind) {
    case 'unreachable':
      if (reason === 'auth_required' || reason === 'auth_forbidden') {
        return new CallFailure('mcp_auth_required', message, {
          sent,
          reason,
          hint: `Tell the user that ${providerName} refused the saved credentials; an operator has to renew them.`,
        });
      }
      return new CallFailure('mcp_provider_unreachable', message, {
        sent,
        ...(reason === undefined ? {} : { reason }),
        ...(error.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs }),
        retryable: sent === 'no' && !needsOperator,
        hint: needsOperator
          ? `Do not try again; tell the user that an operator has to mend the connection ${providerName}.`
          : 'The provider could not be reached; try once more later, and tell the user if it stays away.',
      });
    case 'timeout':
      return new CallFailure('mcp_call_timeout', message, {
        sent,
        hint:
          sent === 'no'
            ? 'The call waited in line and was never sent; try again later or ask for less at once.'
            : 'The provider may still be working on it: check whether it took effect before you repeat it.',
        retryable: sent === 'no',
      });
    case 'cancelled':
      return new CallFailure('mcp_call_cancelled', message, {
        sent,
        hint: 'The call was cancelled; what it did so far is unknown.',
      });
    case 'interrupted':
      return new CallFailure('mcp_call_interrupted', message, {
        sent,
        retryable: sent === 'no',
        hint:
          sent === 'no'
            ? 'The session broke before the call was sent; it is safe to repeat it.'
            : 'Its outcome at the provider is unknown: check whether it took effect before you repeat it.',
      });
    case 'provider_error':
      if (error.provider?.code === URL_ELICITATION_REQUIRED) return inputRequired(message);
      if (isHeaderMismatch(error)) {
        return new CallFailure('mcp_tool_failed', message, {
          sent: 'yes',
          retryable: true,
          hint: 'The provider did not run it, because the definition of the tool has changed: look it up again with mcp_capabilities in a moment, then call it once more.',
        });
      }
      return new CallFailure('mcp_tool_failed', message, {
        sent: 'yes',
        hint: 'The provider refused the call; read the message and correct it.',
      });
    case 'input_required':
      return inputRequired(message);
    case 'too_large':
      return new CallFailure('mcp_response_too_large', message, {
        sent: 'yes',
        hint: 'Ask for less: fewer items, a smaller page, a filter.',
      });
    case 'protocol_error':
      return new CallFailure('mcp_protocol_error', message, {
        sent,
        hint: 'The provider does not follow the protocol here; tell the user.',
      });
    case 'busy':
      return new CallFailure('busy', message, {
        sent,
        retryAfterMs: error.retryAfterMs ?? 1_000,
        hint: 'Try again in a moment.',
      });
  }
}

export function isHeaderMismatch({ provider }: SessionError): boolean {
  return provider?.code === HEADER_MISMATCH;
}

function inputRequired(message: string): CallFailure {
  return new CallFailure('mcp_input_required', message, {
    sent: 'yes',
    hint: 'This tool asks for interaction that is not possible here; give all it needs in arguments, or use another tool.',
  });
}
