import { readdirSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { markerOf } from './child-marker.js';
import { livingProcess, processStart, type ProcessStat } from './process-start.js';

export interface ProcessFacts extends ProcessStat {
  pid: number;
  /** The value of `WARREN_CHILD` in its environment. */
  marker: string | undefined;
}

/** So many processes are read in one turn of the event loop: about half a millisecond. */
const PER_TURN = 32;

/**
 * The living processes of this system, without the dead that wait to be noticed. Reading is cut in small pieces, shared
 * by all who ask meanwhile, and looks into the environment of each process once: it is given to a process at its birth,
 * and some programs overwrite theirs later. Empty where the system has no /proc.
 */
export class ProcessTable {
  private known = new Map<number, ProcessFacts>();
  private last: Promise<unknown> = Promise.resolve();
  private next: Promise<ProcessFacts[]> | undefined;

  /** `since`: processes that started earlier have no marker that matters, clock ticks since boot. */
  constructor(private readonly since: number = 0) {}

  /** Only for what this process itself starts. */
  static ofDescendants(): ProcessTable {
    return new ProcessTable(Number(processStart('self') ?? 0));
  }

  /** As it is after this call, not before. Never rejects. */
  read(): Promise<ProcessFacts[]> {
    if (this.next === undefined) {
      // one under way may have passed over what is new
      this.next = this.last.then(() => {
        this.next = undefined;
        return this.scan();
      });
      this.last = this.next;
    }
    return this.next;
  }

  private async scan(): Promise<ProcessFacts[]> {
    const found = new Map<number, ProcessFacts>();
    for (const [index, pid] of processIds().entries()) {
      if (index % PER_TURN === PER_TURN - 1) await nextTurn();
      const stat = livingProcess(pid);
      if (stat !== undefined) found.set(pid, { pid, ...stat, marker: this.markerOf(pid, stat) });
    }
    this.known = found;
    return [...found.values()];
  }

  private markerOf(pid: number, { start }: ProcessStat): string | undefined {
    if (Number(start) < this.since) return undefined;
    const before = this.known.get(pid);
    return before?.start === start ? before.marker : markerOf(pid);
  }
}

function processIds(): number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
}
