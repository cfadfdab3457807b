import type { ProviderFailureReason } from '../provider-failure.js';
import { callCodes, type CallCode } from './call-codes.js';
import type { MenuError } from './menu.answers.js';

type FailureDetails = Partial<Omit<MenuError, 'code' | 'message' | 'retryable'>> & { retryable?: boolean };

/** A call that fails in a way its caller should read: thrown inside the call path, answered as `ok: false`. */
export class CallFailure extends Error {
  readonly error: MenuError;

  constructor(
    code: CallCode,
    message: string,
    details: FailureDetails = {},
    /** A failed tool's own result, protected, to be shown beside the error. */
    readonly result?: { content: unknown; structuredContent?: unknown },
  ) {
    super(message);
    this.name = 'CallFailure';
    const { sent = 'no', retryable = callCodes[code].retryable, ...rest } = details;
    this.error = { code, message, sent, retryable, ...rest };
  }

  get reason(): ProviderFailureReason | undefined {
    return this.error.reason;
  }
}
