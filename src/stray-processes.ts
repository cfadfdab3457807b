import { setTimeout as delay } from 'node:timers/promises';
import { livingProcess } from './process-start.js';
import type { ProcessFacts } from './process-table.js';

const POLL_MS = 20;

interface Stray {
  pid: number;
  start: string;
  told?: 'SIGTERM' | 'SIGKILL';
}

/** Processes to be ended that no process group holds together. Each is known by its id and its start. */
export class StrayProcesses {
  private readonly strays = new Map<string, Stray>();

  /** How many there ever were. */
  get count(): number {
    return this.strays.size;
  }

  add(found: readonly ProcessFacts[]): void {
    for (const { pid, start } of found) {
      const key = `${pid} ${start}`;
      if (!this.strays.has(key)) this.strays.set(key, { pid, start });
    }
  }

  get areGone(): boolean {
    return ![...this.strays.values()].some(isAlive);
  }

  /** Each hears each signal once: some programs take the second for impatience and leave their work undone. */
  tell(signal: 'SIGTERM' | 'SIGKILL'): void {
    for (const stray of this.strays.values()) {
      if (stray.told === signal || !isAlive(stray)) continue;
      stray.told = signal;
      try {
        process.kill(stray.pid, signal);
      } catch {
        // it ended by itself meanwhile, or is another user's
      }
    }
  }
}

/** Looks every 20 ms until `isDone` or the deadline, a time of `performance.now()`. */
export async function lookUntil(deadline: number, isDone: () => boolean): Promise<void> {
  while (!isDone() && performance.now() < deadline) await delay(POLL_MS);
}

function isAlive({ pid, start }: Stray): boolean {
  return livingProcess(pid)?.start === start;
}
