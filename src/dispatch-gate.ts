import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * Stands between a message and its first byte, so that a revoked call never begins to be written.
 *
 * A transport that is about to write a guarded message awaits `admit`, asks `mayWrite` in the same synchronous turn as
 * the first byte, and ends every granted admission with exactly one of `written` and `abandoned`. It may ask for a new
 * admission when `mayWrite` says no. None of the methods but `admit` may throw.
 */
export interface DispatchGate {
  /** Whether this message is the one behind the gate; others sent by the same operation pass freely. */
  guards(body: string): boolean;
  /** Resolves when the message may be written; rejects when it must not, and the transport passes that error on. */
  admit(): Promise<void>;
  /**
   * Whether the admission still holds (a monotonic deadline), asked right before the first byte. Asked again while a
   * write waits for room: when it no longer holds, the transport has half a second to see that nothing is written.
   */
  mayWrite(): boolean;
  /** The message was handed to the socket or pipe: it has begun to be written, or never will be. */
  written(): void;
  /** The admission was not used: nothing was written, and nothing will be. */
  abandoned(): void;
}

const gates = new AsyncLocalStorage<DispatchGate>();

/** Runs an operation whose guarded message must pass `gate`, however deep in a library it is sent. */
export function withDispatchGate<T>(gate: DispatchGate, operation: () => Promise<T>): Promise<T> {
  return gates.run(gate, operation);
}

/** The gate this message must pass, if the running operation has one and it guards the message. */
export function gateOf(body: string): DispatchGate | undefined {
  const gate = gates.getStore();
  return gate?.guards(body) ? gate : undefined;
}

/** Runs what an operation made us send, but is no part of it. */
export function withoutDispatchGate<T>(run: () => Promise<T>): Promise<T> {
  return gates.exit(run);
}
