import { randomUUID } from 'node:crypto';
import { processStart } from './process-start.js';

/** This run of this process. */
export class Instance {
  readonly id = randomUUID();

  /** Marks provider processes, so that a later start finds those whose owner is gone: id, owner pid, owner start. */
  get childMarker(): string {
    return `${this.id},${process.pid},${ownStart()}`;
  }

  /** Names this process in file names: `<pid>-<start>`. */
  get owner(): string {
    return `${process.pid}-${ownStart()}`;
  }
}

/** Where the system does not tell, milliseconds since 1970. */
function ownStart(): string {
  return processStart('self') ?? String(Math.round(Date.now() - process.uptime() * 1_000));
}
