import type { ProviderSession } from './provider-session.js';

export interface OperationBounds {
  /** The caller's signal. */
  signal: AbortSignal;
  /** From the session being ready, milliseconds. */
  timeoutMs: number;
}

/** What is done with a ready session; `signal` joins the caller's and the deadline. */
export type SessionOperation<T> = (session: ProviderSession, signal: AbortSignal) => Promise<T>;
