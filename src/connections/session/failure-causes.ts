import type { SdkHttpError } from '@modelcontextprotocol/client';
import { OutboundError } from '../../outbound-error.js';
import type { ProviderFailureReason } from '../../provider-failure.js';

/** Causes looked through, at most. */
const MAX_DEPTH = 8;

/** What a body that is no JSON, or JSON that is no JSON-RPC, is reported as. */
const UNREADABLE = new Set(['SyntaxError', 'ZodError', '$ZodError']);

/** Whether the provider answered with something that is not of the protocol. */
export function isUnreadable(error: unknown): error is Error {
  return error instanceof Error && UNREADABLE.has(error.name);
}

/** The failure of our own way out over HTTP behind an error of the protocol client. */
export function outboundCause(error: unknown): OutboundError | undefined {
  let current = error;
  for (let depth = 0; depth < MAX_DEPTH && current instanceof Error; depth += 1) {
    if (current instanceof OutboundError) return current;
    current = current.cause;
  }
  return undefined;
}

export function outboundReason(error: OutboundError): ProviderFailureReason {
  switch (error.reason) {
    case 'redirect_refused':
      return 'http_error';
    case 'admission_expired':
      return 'unknown';
    default:
      return error.reason;
  }
}

export function httpReason(error: SdkHttpError): ProviderFailureReason {
  if (error.status === 401) return 'auth_required';
  if (error.status === 403) return 'auth_forbidden';
  return 'http_error';
}

/** In words, without anything the provider wrote in the body. */
export function httpMessage(error: SdkHttpError): string {
  const said = `HTTP ${error.status ?? 'error'}${error.statusText ? ` ${error.statusText}` : ''}`;
  if (error.status === 401) return `The provider asks for authentication (${said}).`;
  if (error.status === 403) return `The provider denies access (${said}).`;
  return `The provider answered ${said}.`;
}
