import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { LastKnown } from '../database.schema.js';
import { Logger } from '../logger.js';
import { toStorableJson } from '../storable-text.js';
import { ConnectionEvents } from './connection-events.service.js';
import { ConnectionsService } from './connections.service.js';
import type { ProviderIdentity } from './session/provider-session.js';
import { SessionListeners, type SessionTransition } from './session/session-listeners.js';

/** With the database away, more than this is not worth keeping: `lastKnown` only needs the latest. */
const MAX_WAITING = 1_000;

/**
 * Writes down what sessions tell: transitions and the learned protocol era, one after the other, off the call path; and
 * tells sessions that come back by themselves the settings of now.
 */
@Injectable()
export class SessionRecorder implements OnModuleInit {
  private tail: Promise<void> = Promise.resolve();
  private waiting = 0;

  constructor(
    private readonly listeners: SessionListeners,
    private readonly connections: ConnectionsService,
    private readonly events: ConnectionEvents,
    private readonly logger: Logger,
  ) {}

  onModuleInit(): void {
    this.listeners.onTransition = (id, transition) => this.noteTransition(id, transition);
    this.listeners.eraLearned = (id, identity) => this.noteEra(id, identity);
    this.listeners.currentLaunch = (id) => this.connections.launchOf(id);
  }

  /** Resolves when everything told so far is written or given up. */
  flush(): Promise<void> {
    return this.tail;
  }

  private noteTransition(id: string, { status, reason }: SessionTransition): void {
    const lastKnown: LastKnown = { status, at: new Date().toISOString(), ...(reason === undefined ? {} : { reason }) };
    this.enqueue(async () => {
      await this.connections.recordLastKnown(id, lastKnown);
      await this.events.record(id, status, reason);
    });
  }

  private noteEra(id: string, { era, discover }: ProviderIdentity): void {
    const learnedAt = new Date().toISOString();
    this.enqueue(async () => {
      const launch = await this.connections.launchOf(id);
      if (launch === undefined) return;
      const told = discover === undefined ? undefined : toStorableJson(launch.redactor.json(discover).value).value;
      await this.connections.recordEra(id, { era, learnedAt, ...(told === undefined ? {} : { discover: told }) });
    });
  }

  private enqueue(write: () => Promise<void>): void {
    if (this.waiting >= MAX_WAITING) return;
    this.waiting += 1;
    this.tail = this.tail
      .then(write)
      .catch((error: unknown) => this.logger.warn({ error }, 'what a session told could not be recorded'))
      .finally(() => {
        this.waiting -= 1;
      });
  }
}
