import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { Changes } from '../changes.js';
import { Instance } from '../instance.js';
import { Logger } from '../logger.js';
import { CancellationsRepository } from './cancellations.repository.js';
import { callKeyOf, McpInFlight, type McpCallKey } from './mcp.in-flight.js';

/** How often this replica looks for cancellations of its open calls when it was not told of any, milliseconds. */
const LOOK_MS = 1_000;

/**
 * Carries cancellations between replicas: one for a call that does not run here is left in the database, and those left
 * by others are carried out here. Looks only while there is a call that could be meant.
 */
@Injectable()
export class McpCancellations implements OnModuleInit, OnModuleDestroy {
  private unsubscribe: (() => void)[] = [];
  private looking: Promise<void> | undefined;
  private lookAgain = false;

  constructor(
    private readonly inFlight: McpInFlight,
    private readonly repository: CancellationsRepository,
    private readonly changes: Changes,
    private readonly instance: Instance,
    private readonly logger: Logger,
  ) {}

  onModuleInit(): void {
    this.unsubscribe = [
      this.inFlight.onUnknownCall((key) => this.leave(key)),
      this.changes.watch(() => this.look(), LOOK_MS, 'cancellations'),
    ];
  }

  onModuleDestroy(): void {
    for (const leave of this.unsubscribe) leave();
  }

  /** Carries out what waits for calls of this replica. Being told while it looks makes it look once more. */
  look(): Promise<void> {
    this.lookAgain = true;
    this.looking ??= this.lookUntilQuiet().finally(() => {
      this.looking = undefined;
    });
    return this.looking;
  }

  private async lookUntilQuiet(): Promise<void> {
    while (this.lookAgain) {
      this.lookAgain = false;
      const agentIds = this.inFlight.cancellableAgents;
      if (agentIds.length === 0) return;
      // before the question, so that the way back makes no cancellation younger than a call that began after it
      const askedAt = performance.now();
      try {
        for (const { callKey, ageMs } of await this.repository.waiting(agentIds)) {
          this.inFlight.cancelBegun(callKey, askedAt - ageMs);
        }
      } catch (error) {
        this.logger.warn({ error }, 'cancellations of other replicas could not be read');
      }
    }
  }

  private async leave(key: McpCallKey): Promise<void> {
    try {
      await this.repository.leave(this.instance.id, key.agentId, callKeyOf(key));
    } catch (error) {
      this.logger.warn({ error }, 'a cancellation could not be passed on');
    }
  }
}
