import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** This run of this process. */
export class Instance {
  readonly id = randomUUID();

  /** Marks provider processes, so that a later start finds those whose owner is gone: id, owner pid, owner start. */
  get childMarker(): string {
    return `${this.id},${process.pid},${ownStartTime()}`;
  }
}

/** When this process started, in clock ticks since boot where the system tells, else in milliseconds since 1970. */
function ownStartTime(): string {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    // field 22; the command name before it may hold blanks and brackets
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '0';
  } catch {
    return String(Math.round(Date.now() - process.uptime() * 1_000));
  }
}
