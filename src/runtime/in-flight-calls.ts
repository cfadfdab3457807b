import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { Changes } from '../changes.js';
import { SessionError } from '../connections/session/session-error.js';
import { Logger } from '../logger.js';
import { CallsRepository, type HeldCall } from './calls.repository.js';

/** How often running calls are checked again when no change was announced, milliseconds. */
const RECHECK_MS = 2_000;

interface InFlightCall extends HeldCall {
  controller: AbortController;
}

/** The calls this process has admitted and not yet answered; ends those that lost their permission meanwhile. */
@Injectable()
export class InFlightCalls implements OnModuleInit, OnModuleDestroy {
  private readonly calls = new Map<string, InFlightCall>();
  private unsubscribe: (() => void) | undefined;

  constructor(
    private readonly repository: CallsRepository,
    private readonly changes: Changes,
    private readonly logger: Logger,
  ) {}

  onModuleInit(): void {
    this.unsubscribe = this.changes.watch(() => this.recheck(), RECHECK_MS);
  }

  onModuleDestroy(): void {
    this.unsubscribe?.();
  }

  get count(): number {
    return this.calls.size;
  }

  add(call: InFlightCall): void {
    this.calls.set(call.callId, call);
  }

  remove(callId: string): void {
    this.calls.delete(callId);
  }

  /** Ends every call; each caller is told why. */
  cancelAll(why: string): void {
    for (const { controller } of this.calls.values()) controller.abort(new SessionError('cancelled', why));
  }

  /** Ends the calls that would no longer be admitted. When the database is away, nothing is known and nothing ends. */
  async recheck(): Promise<void> {
    if (this.calls.size === 0) return;
    const held = [...this.calls.values()].map(({ controller: _, ...call }) => call);
    try {
      for (const callId of await this.repository.noLongerPermitted(held)) {
        const call = this.calls.get(callId);
        call?.controller.abort(new SessionError('cancelled', 'The permission for this call was taken away.'));
      }
    } catch (error) {
      this.logger.warn({ error }, 'running calls could not be checked again');
    }
  }
}
