/** Milliseconds. */
export interface QuietTiming {
  /** A session that nobody used for so long ends. */
  idleMs: number;
  /** A remote session that nobody uses is asked for a sign of life this often. */
  warmEveryMs: number;
}

/** What happens to a session while nobody uses it. */
export class QuietTimers {
  private idle: NodeJS.Timeout | undefined;
  private warm: NodeJS.Timeout | undefined;

  constructor(private readonly timing: Pick<QuietTiming, 'warmEveryMs'>) {}

  /**
   * `onIdle` is called once after what is left of the idle time, milliseconds, unless stopped before; `keepWarm` again
   * and again while it answers true.
   */
  start(leftMs: number, onIdle: () => void, keepWarm?: () => Promise<boolean>): void {
    this.stop();
    this.idle = setTimeout(() => {
      this.stop();
      onIdle();
    }, leftMs).unref();
    if (keepWarm !== undefined) this.scheduleWarming(keepWarm, this.idle);
  }

  stop(): void {
    clearTimeout(this.idle);
    clearTimeout(this.warm);
    this.idle = undefined;
    this.warm = undefined;
  }

  /** `quiet` is the idle timer of this quiet time: when it is another one, somebody used the session meanwhile. */
  private scheduleWarming(keepWarm: () => Promise<boolean>, quiet: NodeJS.Timeout): void {
    this.warm = setTimeout(() => {
      void keepWarm().then((alive) => {
        if (alive && this.idle === quiet) this.scheduleWarming(keepWarm, quiet);
      });
    }, this.timing.warmEveryMs).unref();
  }
}
