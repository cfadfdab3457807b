/** The one catalogue of menu error codes: when each occurs, and whether repeating the same call can help. */
export const callCodes = {
  mcp_provider_not_available: { retryable: false },
  mcp_provider_ambiguous: { retryable: false },
  mcp_tool_not_found: { retryable: false },
  mcp_tool_not_granted: { retryable: false },
  mcp_arguments_invalid: { retryable: false },
  mcp_provider_unreachable: { retryable: true },
  mcp_auth_required: { retryable: false },
  mcp_call_timeout: { retryable: false },
  mcp_call_cancelled: { retryable: false },
  mcp_call_interrupted: { retryable: false },
  mcp_tool_failed: { retryable: false },
  mcp_input_required: { retryable: false },
  mcp_response_too_large: { retryable: false },
  mcp_response_withheld: { retryable: false },
  mcp_protocol_error: { retryable: false },
  handle_invalid: { retryable: false },
  rate_limited: { retryable: true },
  busy: { retryable: true },
} as const;

export type CallCode = keyof typeof callCodes;
