import { Injectable } from '@nestjs/common';
import { CallsRepository, type CallIntent } from './calls.repository.js';

const BATCH_SIZE = 200;

interface Waiting {
  intent: CallIntent;
  written: () => void;
  failed: (error: unknown) => void;
}

/**
 * Writes down the calls that are about to be made. An admission commits only after its call was written, so the row it
 * makes can be lost with this process although the call arrived; this one cannot. Calls that come while a statement is
 * under way share the next one.
 */
@Injectable()
export class CallIntents {
  private waiting: Waiting[] = [];
  private isWriting = false;

  constructor(private readonly repository: CallsRepository) {}

  /** Resolves when the call has a row. Errors: when PostgreSQL is away. */
  write(intent: CallIntent): Promise<void> {
    return new Promise((written, failed) => {
      this.waiting.push({ intent, written, failed });
      if (!this.isWriting) void this.writeAll();
    });
  }

  private async writeAll(): Promise<void> {
    this.isWriting = true;
    while (this.waiting.length > 0) {
      const batch = this.waiting.splice(0, BATCH_SIZE);
      try {
        await this.repository.intend(batch.map(({ intent }) => intent));
        for (const { written } of batch) written();
      } catch (error) {
        for (const { failed } of batch) failed(error);
      }
    }
    this.isWriting = false;
  }
}
