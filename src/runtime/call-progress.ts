import type { Redactor } from '../redactor.js';
import type { MenuProgress } from './menu.caller.js';

/** Progress may be dropped at will; without a bound, a chatty provider would keep this server and its caller busy. */
const BURST = 100;
const PER_SECOND = 20;
const MAX_MESSAGE_CHARS = 2_000;
/** A longer message is not worth the search for secrets in it. */
const MAX_READ_CHARS = 65_536;

/**
 * Wraps a sender of progress so that it sends at most a burst of 100, then 20 a second, with messages masked, then cut:
 * what a provider says while it works is output like any other.
 */
export function boundedProgress(
  send: (progress: MenuProgress) => void,
  redactor: Redactor,
  nowMs: () => number = () => performance.now(),
): (progress: MenuProgress) => void {
  let tokens = BURST;
  let countedAt = nowMs();
  return ({ progress, total, message }) => {
    const now = nowMs();
    tokens = Math.min(BURST, tokens + ((now - countedAt) / 1_000) * PER_SECOND);
    countedAt = now;
    if (tokens < 1) return;
    tokens -= 1;
    // a number that is a secret says nothing of progress
    if (redactor.json([progress, total ?? 0]).count > 0) return;
    const readable = message !== undefined && message.length <= MAX_READ_CHARS;
    send({
      progress,
      ...(total === undefined ? {} : { total }),
      ...(readable ? { message: cut(redactor.text(message).text) } : {}),
    });
  };
}

function cut(message: string): string {
  // Half a surrogate pair at the cut would not be valid text.
  return message.slice(0, MAX_MESSAGE_CHARS).replace(/[\uD800-\uDBFF]$/, '');
}
