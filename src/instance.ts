import { randomUUID } from 'node:crypto';
import { childMarker } from './child-marker.js';
import { processStart } from './process-start.js';

/** This run of this process. */
export class Instance {
  readonly id = randomUUID();
  private launches = 0;

  /**
   * Marks one launch and all it starts, so that what outlives it is found, and by a later start also what outlives this
   * process.
   */
  nextChildMarker(): string {
    this.launches += 1;
    return childMarker({ instanceId: this.id, ownerPid: process.pid, ownerStart: ownStart() }, this.launches);
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
