import { EventEmitter, once } from 'node:events';
import type { Writable } from 'node:stream';
import { SessionError } from './session-error.js';

/** What is written to a provider's standard input, and how much of it still waits for room in the pipe. */
export class PipeWrites {
  private waiting = 0;
  private closed = false;
  private readonly pipe = new EventEmitter<{ taken: [] }>();

  constructor(private readonly stdin: Writable) {}

  get canBegin(): boolean {
    return !this.closed && this.stdin.writable;
  }

  /** Whether nothing waits for room. */
  get areTaken(): boolean {
    return this.waiting === 0;
  }

  /** Until nothing waits for room any more, or the signal aborts. */
  async taken(signal: AbortSignal): Promise<void> {
    while (!this.areTaken && !signal.aborted) {
      await once(this.pipe, 'taken', { signal }).catch(() => undefined);
    }
  }

  /** Resolves when all of it is in the pipe. Errors: `SessionError` interrupted. */
  async write(data: string | Buffer): Promise<void> {
    if (!this.canBegin) throw interrupted('no');
    this.waiting += 1;
    try {
      await new Promise<void>((resolve, reject) => {
        this.stdin.write(data, (error) => (error ? reject(interrupted('maybe', error)) : resolve()));
      });
    } finally {
      this.waiting -= 1;
      if (this.areTaken) this.pipe.emit('taken');
    }
  }

  /** Nothing more is written. */
  close(): void {
    this.closed = true;
  }

  /** Takes back what has not begun to leave. */
  destroy(): void {
    this.stdin.destroy();
  }
}

function interrupted(sent: 'no' | 'maybe', cause?: Error): SessionError {
  return new SessionError('interrupted', 'The provider process no longer reads.', { sent, cause });
}
