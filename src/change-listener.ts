import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import type { Changes } from './changes.js';
import { listen, type Listening } from './database-notifications.js';
import { CANCELLATION_NOTICE, CHANGED_CHANNEL } from './database.js';
import type { Logger } from './logger.js';

const RECONNECT_MS = 1_000;

/** Hears from other replicas that something changed. Only a hint: those who hear also look on a timer. */
export class ChangeListener implements OnApplicationBootstrap, OnModuleDestroy {
  private listening: Listening | undefined;
  private timer: NodeJS.Timeout | undefined;
  private stopped = false;

  /** Without a URL (behind a transaction pooler) it does nothing. */
  constructor(
    private readonly databaseUrl: string | undefined,
    private readonly changes: Changes,
    private readonly logger: Logger,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.connect();
  }

  async onModuleDestroy(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.listening?.end();
  }

  private async connect(): Promise<void> {
    if (this.databaseUrl === undefined || this.stopped) return;
    try {
      this.listening = await listen(
        this.databaseUrl,
        CHANGED_CHANNEL,
        (payload) => void this.changes.announce(payload === CANCELLATION_NOTICE ? 'cancellations' : 'permissions'),
        () => this.reconnect(),
      );
      // what changed while nobody listened
      await this.changes.announce();
      await this.changes.announce('cancellations');
    } catch (error) {
      this.logger.warn({ error }, 'cannot listen for changes; looking on a timer meanwhile');
      this.reconnect();
    }
  }

  private reconnect(): void {
    if (this.stopped) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.connect(), RECONNECT_MS).unref();
  }
}
