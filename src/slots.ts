/** A counted bound: at most `size` holders at once, others wait in line until their signal says stop. */
export class Slots {
  private held = 0;
  private readonly waiting: { grant: () => void }[] = [];

  constructor(private readonly size: number) {}

  get inUse(): number {
    return this.held;
  }

  get queued(): number {
    return this.waiting.length;
  }

  /** Resolves with the function that gives the slot back. Errors: the signal's reason, when it aborts first. */
  async take(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.held < this.size) this.held += 1;
    else await this.waitInLine(signal);
    let released = false;
    return () => {
      if (released) return;
      released = true;
      this.giveBack();
    };
  }

  private waitInLine(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const entry = {
        grant: () => {
          signal.removeEventListener('abort', leave);
          resolve();
        },
      };
      const leave = (): void => {
        this.waiting.splice(this.waiting.indexOf(entry), 1);
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', leave, { once: true });
      this.waiting.push(entry);
    });
  }

  private giveBack(): void {
    const next = this.waiting.shift();
    // the slot passes on without being free in between, so nobody overtakes the line
    if (next === undefined) this.held -= 1;
    else next.grant();
  }
}
