/** Why a provider could not be reached; stable, shown to operators and agents. */
export const providerFailureReasons = [
  'executable_not_found',
  'executable_not_permitted',
  'process_exited',
  'handshake_timeout',
  'not_mcp',
  'dns_failed',
  'egress_denied',
  'connection_refused',
  'connection_unreachable',
  'connection_timeout',
  'tls_verification_failed',
  'http_error',
  'auth_required',
  'auth_forbidden',
  'protocol_unsupported',
  'message_too_large',
  'unknown',
] as const;

export type ProviderFailureReason = (typeof providerFailureReasons)[number];
