/** A provider is not left alone for longer than this, milliseconds, whatever it asks for. */
export const MAX_RETRY_AFTER_MS = 300_000;

/**
 * Milliseconds that a `Retry-After` header (RFC 9110: seconds, or a date) asks for, at most five minutes; undefined when
 * there is none or it is neither. `now` is epoch milliseconds.
 */
export function readRetryAfter(header: string | null, now: number): number | undefined {
  const text = header?.trim() ?? '';
  const asked = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - now;
  return Number.isNaN(asked) ? undefined : Math.min(Math.max(asked, 0), MAX_RETRY_AFTER_MS);
}
