import { SdkHttpError } from '@modelcontextprotocol/client';
import type { SessionError } from './session-error.js';

/**
 * Whether a question for a sign of life that failed got an answer all the same. Any that can only come from the provider
 * is one, however it is worded; what a server in front of it says in its place (5xx) is none, and one that no longer lets
 * us in (401, 403) is of no use.
 */
export function isSignOfLife({ kind, cause }: SessionError): boolean {
  switch (kind) {
    case 'provider_error':
    case 'protocol_error':
    case 'too_large':
    case 'input_required':
      return true;
    case 'unreachable':
      return (
        cause instanceof SdkHttpError && cause.status !== undefined && cause.status < 500 && !refuses(cause.status)
      );
    case 'timeout':
    case 'cancelled':
    case 'interrupted':
    case 'busy':
      return false;
  }
}

function refuses(status: number): boolean {
  return status === 401 || status === 403;
}
