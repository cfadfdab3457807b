import type { StreamableHTTPReconnectionOptions } from '@modelcontextprotocol/client';
import type { StandingStream } from './standing-stream.js';

/** How soon, and how late, a request's own stream is taken up again where it broke, milliseconds. */
const RESUME = { soonest: 100, latest: 60_000 };

/** What the SDK's transport does by default, when a stream cannot be opened again. */
export const reconnectionOptions: StreamableHTTPReconnectionOptions = {
  initialReconnectionDelay: 1_000,
  maxReconnectionDelay: 30_000,
  reconnectionDelayGrowFactor: 1.5,
  maxRetries: 2,
};

/**
 * When a stream that ended is opened again. That of a request follows the provider's wish, for a deadline stands behind
 * it; nothing but this ends the common one (`isCommon`).
 */
export function reconnectionScheduler(
  standing: StandingStream,
  isCommon: () => boolean,
): (reconnect: () => void, delayMs: number) => () => void {
  return (reconnect, delayMs) => {
    const pause = isCommon()
      ? standing.pauseAfter(delayMs)
      : Math.min(Math.max(delayMs, RESUME.soonest), RESUME.latest);
    if (pause === undefined) return () => undefined;
    const timer = setTimeout(reconnect, pause).unref();
    return () => clearTimeout(timer);
  };
}
