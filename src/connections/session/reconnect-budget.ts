export interface ReconnectTiming {
  attempts: number;
  /** Before the first attempt, milliseconds; doubles from one to the next. */
  firstMs: number;
  mostMs: number;
  /** A session that lasted this long earns a fresh budget, milliseconds. */
  stableMs: number;
}

export const reconnectTiming: ReconnectTiming = { attempts: 5, firstMs: 500, mostMs: 8_000, stableMs: 60_000 };

/** How often, and when, a broken session may come back by itself. */
export class ReconnectBudget {
  private used = 0;

  constructor(
    private readonly timing: ReconnectTiming,
    private readonly random: () => number = Math.random,
  ) {}

  /** Milliseconds until the next attempt, a fifth more or less so that replicas do not come back in step; undefined: no more. */
  next(): number | undefined {
    if (this.used >= this.timing.attempts) return undefined;
    const delay = Math.min(this.timing.firstMs * 2 ** this.used, this.timing.mostMs);
    this.used += 1;
    return delay * (0.8 + 0.4 * this.random());
  }

  /** A session of this age, milliseconds, broke. */
  broke(ageMs: number): void {
    if (ageMs >= this.timing.stableMs) this.used = 0;
  }
}
