import type { ProviderFailureReason } from '../../provider-failure.js';
import { isPassing, SessionError } from './session-error.js';

/** So many calls in a row that did not get through, and the link counts as gone; one may be a moment's trouble. */
const MISSES = 3;

/** Tells from what operations on a session meet whether its link is gone. */
export class LinkDoubts {
  private misses = 0;

  /** Something got through. */
  clear(): void {
    this.misses = 0;
  }

  /** Why the link counts as gone after this error of an operation; undefined while it may be well. */
  after(error: unknown, isLost: boolean): ProviderFailureReason | undefined {
    if (isLost) return 'http_error';
    const missed = error instanceof SessionError && error.kind === 'unreachable' && error.sent === 'no';
    this.misses = missed && isPassing(error) ? this.misses + 1 : 0;
    if (this.misses < MISSES) return undefined;
    this.misses = 0;
    return error instanceof SessionError ? error.reason : undefined;
  }
}
