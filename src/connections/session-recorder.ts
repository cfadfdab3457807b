import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { LastKnown } from '../database.schema.js';
import { Logger } from '../logger.js';
import { toStorableJson } from '../storable-text.js';
import { ConnectionEvents } from './connection-events.service.js';
import { ConnectionsService } from './connections.service.js';
import type { ProviderIdentity } from './session/provider-session.js';
import { SessionListeners, type SessionTransition } from './session/session-listeners.js';

/** With the database away, more than this is not worth keeping; where `lastKnown` ends is kept beyond it. */
const MAX_WAITING = 1_000;
/** So many connections that changed are remembered while the line is full. */
const MAX_UNWRITTEN = 10_000;

/**
 * Writes down what sessions tell: transitions and the learned protocol era, one after the other, off the call path; and
 * tells sessions that come back by themselves the settings of now.
 */
@Injectable()
export class SessionRecorder implements OnModuleInit {
  private tail: Promise<void> = Promise.resolve();
  private waiting = 0;
  /** The latest transition of each connection that found the line full; written as soon as there is room. */
  private readonly unwritten = new Map<string, LastKnown>();

  constructor(
    private readonly listeners: SessionListeners,
    private readonly connections: ConnectionsService,
    private readonly events: ConnectionEvents,
    private readonly logger: Logger,
  ) {}

  onModuleInit(): void {
    this.listeners.onTransition = (id, transition) => this.noteTransition(id, transition);
    this.listeners.eraLearned = (id, identity) => this.noteEra(id, identity);
    this.listeners.recorded = () => this.flush();
    this.listeners.currentLaunch = (id) => this.connections.launchOf(id);
  }

  /** Resolves when everything told so far is written or given up. */
  async flush(): Promise<void> {
    let seen: Promise<void> | undefined;
    while (seen !== this.tail) {
      seen = this.tail;
      await seen;
    }
  }

  private noteTransition(id: string, { status, reason }: SessionTransition): void {
    this.logger.info({ connectionId: id, status, reason }, 'session');
    const lastKnown: LastKnown = { status, at: new Date().toISOString(), ...(reason === undefined ? {} : { reason }) };
    // what is told later must not be overtaken by what waits already
    if (this.waiting >= MAX_WAITING || this.unwritten.has(id)) return this.postpone(id, lastKnown);
    this.enqueue(() => this.write(id, lastKnown));
  }

  /** Only the latest counts; those it takes the place of leave no event. */
  private postpone(id: string, lastKnown: LastKnown): void {
    if (this.unwritten.size >= MAX_UNWRITTEN && !this.unwritten.has(id)) return;
    this.unwritten.set(id, lastKnown);
  }

  private async write(id: string, lastKnown: LastKnown): Promise<void> {
    await this.connections.recordLastKnown(id, lastKnown);
    await this.events.record(id, lastKnown.status, lastKnown.reason);
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
        this.catchUp();
      });
  }

  private catchUp(): void {
    for (const [id, lastKnown] of this.unwritten) {
      this.unwritten.delete(id);
      return this.enqueue(() => this.write(id, lastKnown));
    }
  }
}
