/** So many wait already that waiting makes no sense. */
export class LineTooLong extends Error {
  constructor(waiting: number) {
    super(`${waiting} are waiting already`);
    this.name = 'LineTooLong';
  }
}

interface Waiter {
  grant(): void;
}

/**
 * A counted bound: at most `size` holders at once, others wait in line until their signal says stop. There is a line
 * for each key; freed slots go to the lines in turn, so whoever asks for much under one key delays another by one turn.
 */
export class Slots {
  private held = 0;
  /** Never an empty line. The order is that of their turns. */
  private readonly lines = new Map<string, Set<Waiter>>();

  private waiting = 0;

  /** Beyond `mostWaiting` in line nobody may join. */
  constructor(
    private size: number,
    private readonly mostWaiting = 1_000,
  ) {}

  /** Whether whoever comes now has to wait. */
  get isFull(): boolean {
    return this.held >= this.size;
  }

  get inUse(): number {
    return this.held;
  }

  get queued(): number {
    return this.waiting;
  }

  /** Another bound, for those who hold a slot already as well: beyond it nobody is let in until enough have left. */
  resize(size: number): void {
    this.size = size;
    this.letIn();
  }

  /**
   * Resolves with the function that gives the slot back. Errors: the signal's reason, when it aborts first;
   * `LineTooLong`.
   */
  async take(key: string, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.held < this.size) this.held += 1;
    else await this.waitInLine(key, signal);
    let released = false;
    return () => {
      if (released) return;
      released = true;
      this.giveBack();
    };
  }

  private waitInLine(key: string, signal: AbortSignal): Promise<void> {
    if (this.waiting >= this.mostWaiting) return Promise.reject(new LineTooLong(this.mostWaiting));
    this.waiting += 1;
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        grant: () => {
          this.waiting -= 1;
          signal.removeEventListener('abort', leave);
          resolve();
        },
      };
      const leave = (): void => {
        this.waiting -= 1;
        const line = this.lines.get(key);
        line?.delete(waiter);
        if (line?.size === 0) this.lines.delete(key);
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', leave, { once: true });
      this.lineOf(key).add(waiter);
    });
  }

  private lineOf(key: string): Set<Waiter> {
    const line = this.lines.get(key) ?? new Set();
    this.lines.set(key, line);
    return line;
  }

  private giveBack(): void {
    this.held -= 1;
    this.letIn();
  }

  /** Nothing is awaited between a slot being free and the next in line holding it, so nobody overtakes the lines. */
  private letIn(): void {
    while (this.held < this.size) {
      const next = this.nextInTurn();
      if (next === undefined) return;
      this.held += 1;
      next.grant();
    }
  }

  private nextInTurn(): Waiter | undefined {
    for (const [key, line] of this.lines) {
      this.lines.delete(key);
      for (const waiter of line) {
        line.delete(waiter);
        if (line.size > 0) this.lines.set(key, line);
        return waiter;
      }
    }
    return undefined;
  }
}
