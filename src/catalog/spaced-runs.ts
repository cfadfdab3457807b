/** Runs asked for by the same key are never at once and never closer than this; milliseconds. */
export interface Spacing {
  least: number;
  /** A run that changed nothing doubles the distance to the next one, up to this. */
  most: number;
}

interface Entry {
  /** From the end of a run to the start of the next. */
  distance: number;
  endedAt: number;
  running: boolean;
  wanted: boolean;
  timer?: NodeJS.Timeout;
}

/**
 * Turns any number of requests into spaced runs: one at a time per key, and one more after it when requests came
 * meanwhile. Who asks again and again for nothing is answered ever more rarely, so that a run which itself causes the
 * next request drives no loop.
 */
export class SpacedRuns {
  private readonly entries = new Map<string, Entry>();
  private readonly running = new Set<Promise<void>>();
  private closed = false;

  /** `run` says whether it changed anything; undefined when the key is gone. It deals with its own errors. */
  constructor(
    private readonly run: (key: string) => Promise<boolean | undefined>,
    private readonly spacing: Spacing,
  ) {}

  request(key: string): void {
    if (this.closed) return;
    const known = this.entries.get(key);
    const entry = known ?? { distance: this.spacing.least, endedAt: -Infinity, running: false, wanted: false };
    this.entries.set(key, entry);
    entry.wanted = true;
    this.schedule(key, entry);
  }

  /** Starts nothing more and waits for what runs. */
  async close(): Promise<void> {
    this.closed = true;
    for (const { timer } of this.entries.values()) clearTimeout(timer);
    await Promise.all(this.running);
  }

  private schedule(key: string, entry: Entry): void {
    if (this.closed || entry.running || !entry.wanted || entry.timer !== undefined) return;
    const wait = Math.max(0, entry.endedAt + entry.distance - performance.now());
    entry.timer = setTimeout(() => {
      delete entry.timer;
      const run = this.execute(key, entry).finally(() => this.running.delete(run));
      this.running.add(run);
    }, wait).unref();
  }

  private async execute(key: string, entry: Entry): Promise<void> {
    entry.running = true;
    entry.wanted = false;
    const changed = await this.run(key);
    entry.running = false;
    entry.endedAt = performance.now();
    if (changed === undefined) {
      this.entries.delete(key);
      return;
    }
    entry.distance = changed ? this.spacing.least : Math.min(entry.distance * 2, this.spacing.most);
    this.schedule(key, entry);
  }
}
