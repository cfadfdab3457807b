import { setTimeout as delay } from 'node:timers/promises';
import type { Caller } from './soak.callers.js';
import type { Ledger } from './soak.ledger.js';

/** Callers that call one after the other, all together no faster than told, until stopped. */
export class Load {
  private readonly running: Promise<void>[];
  private stopped = false;
  private held: Promise<void> | undefined;
  private release: () => void = () => undefined;
  private readonly busy = new Set<Promise<void>>();
  /** When the next call may begin, `performance.now()`. */
  private due = performance.now();

  constructor(
    private readonly ledger: Ledger,
    callers: readonly Caller[],
    private readonly callsPerSecond: number,
  ) {
    this.running = callers.map((caller) => this.run(caller));
  }

  /** Lets no call begin, and resolves when those under way have ended. */
  async hold(): Promise<void> {
    this.held ??= new Promise((resolve) => (this.release = resolve));
    await Promise.all(this.busy);
  }

  resume(): void {
    this.held = undefined;
    this.release();
    this.due = performance.now();
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.resume();
    await Promise.all(this.running);
  }

  private async run(caller: Caller): Promise<void> {
    for (;;) {
      while (this.held !== undefined) await this.held;
      if (this.stopped) return;
      // what was not begun in time is not made up for
      this.due = Math.max(this.due, performance.now()) + 1_000 / this.callsPerSecond;
      const pause = this.due - performance.now() - 1_000 / this.callsPerSecond;
      if (pause > 1) await delay(pause);
      if (this.held !== undefined || this.stopped) continue;
      const call = this.call(caller);
      this.busy.add(call);
      await call;
      this.busy.delete(call);
    }
  }

  private async call(caller: Caller): Promise<void> {
    const number = this.ledger.number();
    const provider = providerOf(number);
    const began = performance.now();
    try {
      this.ledger.noteLoad(number, provider, began, await caller.call(provider, 'echo', number));
    } catch (error) {
      this.ledger.noteBroken(number, provider, began, error);
    }
  }
}

/** Half over stdio and half over HTTP, some of them on a session of their own; a process for one call is dear. */
function providerOf(number: number): string {
  if (number % 500 === 0) return 'line-once';
  if (number % 50 === 0) return 'web-once';
  return number % 2 === 0 ? 'line' : 'web';
}
