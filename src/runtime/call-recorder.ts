import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { isDatabaseUnavailable } from '../database.js';
import { Logger } from '../logger.js';
import { CallsRepository, type CallOutcome } from './calls.repository.js';

/** Receipts are written together, at most this long after the answer, milliseconds. */
const FLUSH_AFTER_MS = 20;
const BATCH_SIZE = 200;
/** With more than this waiting, answers wait for the database. */
const MAX_QUEUED = 5_000;
const RETRY_AFTER_MS = 500;

/** Writes the outcome of calls in batches behind the answers; nothing is dropped while this process lives. */
@Injectable()
export class CallRecorder implements OnApplicationShutdown {
  private queue: CallOutcome[] = [];
  private timer: NodeJS.Timeout | undefined;
  private flushing: Promise<void> | undefined;

  constructor(
    private readonly repository: CallsRepository,
    private readonly logger: Logger,
  ) {}

  /** Resolves at once, or, with too many waiting, when a batch is written. */
  async record(outcome: CallOutcome): Promise<void> {
    this.queue.push(outcome);
    if (this.queue.length > MAX_QUEUED) await this.flush();
    else this.schedule(FLUSH_AFTER_MS);
  }

  /** Writes all that waits. A reader of receipts calls this first. Never rejects. */
  flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.flushing ??= this.writeQueue().finally(() => {
      this.flushing = undefined;
    });
    return this.flushing;
  }

  async onApplicationShutdown(): Promise<void> {
    await this.flush();
    clearTimeout(this.timer);
    if (this.queue.length > 0)
      this.logger.error({ lost: this.queue.length }, 'receipts could not be written before the end');
  }

  private async writeQueue(): Promise<void> {
    while (this.queue.length > 0) {
      const batch = this.queue.slice(0, BATCH_SIZE);
      try {
        await this.writeBatch(batch);
      } catch (error) {
        this.logger.warn({ error, waiting: this.queue.length }, 'receipts could not be written yet');
        this.schedule(RETRY_AFTER_MS);
        return;
      }
      this.queue.splice(0, batch.length);
    }
  }

  /** One receipt that PostgreSQL cannot take must not hold up the others. Errors: when the database is away. */
  private async writeBatch(batch: readonly CallOutcome[]): Promise<void> {
    try {
      await this.repository.finish(batch);
    } catch (error) {
      if (isDatabaseUnavailable(error)) throw error;
      for (const outcome of batch) await this.writeOne(outcome);
    }
  }

  private async writeOne(outcome: CallOutcome): Promise<void> {
    try {
      await this.repository.finish([outcome]);
    } catch (error) {
      if (isDatabaseUnavailable(error)) throw error;
      this.logger.error(
        { error, callId: outcome.id },
        'a receipt could not be stored as it is; its previews are left out',
      );
      await this.repository.finish([{ ...outcome, argument_preview: null, result_preview: null }]);
    }
  }

  private schedule(milliseconds: number): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      void this.flush();
    }, milliseconds);
  }
}
