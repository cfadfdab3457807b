import { setTimeout as delay } from 'node:timers/promises';

const POLL_MS = 20;

/** Looks again and again, for what announces itself by no event. Errors: the last one, after `withinMs`. */
export async function eventually<T>(look: () => T | Promise<T>, withinMs = 5_000): Promise<T> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    try {
      return await look();
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
    await delay(POLL_MS);
  }
}
