import { classifyOutboundError } from './outbound-error.js';
import type { WriteWatch } from './safe-fetch.write-watch.js';

/** So often one request is begun, as long as nothing of it was written. */
export const maximumAttempts = 3;

/**
 * Whether the connection broke, rather than could not be made. Providers close connections that were silent for a while,
 * and may do so right when one is taken for the next request; undici fails that request although nothing was written.
 */
export function isLostSocket(error: unknown): boolean {
  return classifyOutboundError(error).reason === 'http_error';
}

/** Sends a request, on another socket when the one it was to go over was lost before the first byte. */
export async function sendOverLostSockets<T>(send: (watch: WriteWatch) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    let begun = false;
    const watch: WriteWatch = {
      beforeFirstByte: () => {
        begun = true;
      },
      afterLastByte: () => undefined,
    };
    try {
      return await send(watch);
    } catch (error) {
      if (begun || attempt === maximumAttempts || !isLostSocket(error)) throw error;
    }
  }
}
