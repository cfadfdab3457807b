import type { MenuProgress } from './menu.caller.js';

/** Progress may be dropped at will; without a bound, a chatty provider would fill the memory of a slow client's stream. */
const BURST = 100;
const PER_SECOND = 20;
const MAX_MESSAGE_CHARS = 2_000;

/** Wraps a sender of progress so that it sends at most a burst of 100, then 20 a second, with messages cut. */
export function boundedProgress(
  send: (progress: MenuProgress) => void,
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
    send({
      progress,
      ...(total === undefined ? {} : { total }),
      ...(message === undefined ? {} : { message: cut(message) }),
    });
  };
}

function cut(message: string): string {
  // Half a surrogate pair at the cut would not be valid text.
  return message.slice(0, MAX_MESSAGE_CHARS).replace(/[\uD800-\uDBFF]$/, '');
}
