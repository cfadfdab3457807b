import { Slots } from '../../slots.js';

/**
 * One guarded message at a time between its admission and its first byte, so that a provider that does not read holds
 * one admission at most. Whoever has not begun may leave.
 */
export class DispatchTurns {
  private readonly turn = new Slots(1);
  private readonly waiting = new Map<string | number, AbortController>();

  /**
   * Runs `begin` in this message's turn; its signal aborts when the message leaves, up to `begun` being called.
   * Errors: the reason it left for, or what `begin` throws.
   */
  async run<T>(id: string | number, begin: (signal: AbortSignal, begun: () => void) => Promise<T>): Promise<T> {
    const leaving = new AbortController();
    this.waiting.set(id, leaving);
    const begun = (): void => {
      this.waiting.delete(id);
    };
    try {
      const endTurn = await this.turn.take('', leaving.signal);
      try {
        return await begin(leaving.signal, begun);
      } finally {
        endTurn();
      }
    } finally {
      begun();
    }
  }

  /** Whether the message had not begun; then it never will. */
  leave(id: string | number, reason: Error): boolean {
    const leaving = this.waiting.get(id);
    this.waiting.delete(id);
    leaving?.abort(reason);
    return leaving !== undefined;
  }

  leaveAll(reason: Error): void {
    for (const id of this.waiting.keys()) this.leave(id, reason);
  }
}
