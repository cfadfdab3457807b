import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import type { Settings } from '../config.js';
import { ConnectionsService } from '../connections/connections.service.js';
import { SessionManager } from '../connections/session/session-manager.js';
import type { ProblemCode } from '../errors.js';
import { Logger } from '../logger.js';
import { toProblem } from '../problem.filter.js';
import { SETTINGS } from '../settings.token.js';
import { DiscoveryRepository } from './discovery.repository.js';
import { DiscoveryService } from './discovery.service.js';
import { SpacedRuns } from './spaced-runs.js';

/** Between looks for old catalogs: this, and up to as much again, so that replicas do not look in step. Milliseconds. */
const LOOK_MS = 60_000;
/** Old catalogs refreshed by one look. */
const MAX_A_LOOK = 20;
/** An old catalog whose refresh failed is left alone for this long, milliseconds. */
const RETRY_AFTER_MS = 3_600_000;
/** Between refreshes that one provider asks for, milliseconds. */
const SPACING = { least: 5_000, most: 300_000 };
/** The connection is away or switched off: nothing to refresh, nothing to tell. */
const GONE = new Set<ProblemCode>(['connection_not_found', 'connection_disabled', 'shutting_down']);

/** Refreshes catalogs nobody asked for: old ones, and those whose provider says that its tools changed. */
@Injectable()
export class CatalogRefresher implements OnApplicationBootstrap {
  private readonly announced = new SpacedRuns((id) => this.refreshAnnounced(id), SPACING);
  private readonly failedAt = new Map<string, number>();
  private timer: NodeJS.Timeout | undefined;
  private looking: Promise<void> = Promise.resolve();
  private closed = false;

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly repository: DiscoveryRepository,
    private readonly connections: ConnectionsService,
    private readonly sessions: SessionManager,
    private readonly logger: Logger,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  onApplicationBootstrap(): void {
    if (this.settings.WARREN_REDISCOVER_HOURS > 0) this.scheduleLook();
  }

  /** A provider said that its tools changed. */
  toolsChanged(connectionId: string): void {
    this.announced.request(connectionId);
  }

  /** Refreshes catalogs that are too old, one after the other. Never rejects. */
  async refreshOld(): Promise<void> {
    try {
      const old = await this.repository.olderThan(this.settings.WARREN_REDISCOVER_HOURS, MAX_A_LOOK);
      for (const id of old) {
        if (this.closed) return;
        const failedAt = this.failedAt.get(id);
        if (failedAt !== undefined && performance.now() - failedAt < RETRY_AFTER_MS) continue;
        this.failedAt.delete(id);
        if ((await this.refresh(id)) === 'failed') this.failedAt.set(id, performance.now());
      }
    } catch (error) {
      this.logger.warn({ error }, 'old catalogs could not be looked for');
    }
  }

  /** Starts nothing more and waits for what runs. */
  async close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.timer);
    await Promise.all([this.announced.close(), this.looking]);
  }

  private scheduleLook(): void {
    if (this.closed) return;
    this.timer = setTimeout(
      () => {
        this.looking = this.refreshOld().then(() => this.scheduleLook());
      },
      LOOK_MS * (1 + Math.random()),
    ).unref();
  }

  private async refreshAnnounced(id: string): Promise<boolean | undefined> {
    if (await this.isAtRest(id)) return undefined;
    const refreshed = await this.refresh(id);
    return refreshed === 'gone' ? undefined : refreshed === 'changed';
  }

  /**
   * Whether a lasting session was stopped since its provider announced a change. What an operator stopped is not started
   * for this; the change is read with the next discovery.
   */
  private async isAtRest(id: string): Promise<boolean> {
    const { state } = this.sessions.live(id);
    if (state !== 'closed' && state !== 'idle') return false;
    const connection = await this.connections.require(id).catch(() => undefined);
    return connection?.lifecycle === 'keep_alive';
  }

  private async refresh(id: string): Promise<'changed' | 'unchanged' | 'failed' | 'gone'> {
    try {
      const { revision, toolCount, added, removed, changed } = await this.discovery.discoverAnew(id);
      this.logger.info({ connectionId: id, revision, toolCount, added, removed, changed }, 'catalog refreshed');
      return added + removed + changed > 0 ? 'changed' : 'unchanged';
    } catch (error) {
      const { code, reason, detail } = toProblem(error);
      if (GONE.has(code)) return 'gone';
      this.logger.warn({ connectionId: id, code, reason, detail }, 'catalog could not be refreshed');
      return 'failed';
    }
  }
}
