import { SessionLostError } from './session-error.js';

/** What is left of an operation's time, milliseconds; opening a session does not count. */
export interface TimeLeft {
  leftMs: number;
}

/** Runs an operation once more, on a new session, when the provider had lost the first; never a third time. */
export async function renewingOnce<T>(timeoutMs: number, run: (time: TimeLeft) => Promise<T>): Promise<T> {
  const time = { leftMs: timeoutMs };
  try {
    return await run(time);
  } catch (error) {
    if (!(error instanceof SessionLostError)) throw error;
    return run(time);
  }
}
