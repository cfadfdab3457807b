import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Changes } from '../changes.js';
import { Logger } from '../logger.js';
import { ConnectionsService } from './connections.service.js';
import { outdatedRevision } from './launch-state.js';
import { SessionManager } from './session/session-manager.js';

/** How often held sessions are compared with the database when no change was announced, milliseconds. */
const COMPARE_MS = 2_000;

/**
 * Ends sessions whose connection was deleted, disabled, stopped or changed by another replica. With the database away
 * nothing is known and nothing ends: admission lets no call through meanwhile.
 */
@Injectable()
export class SessionReconciler implements OnApplicationBootstrap, OnModuleDestroy {
  private unsubscribe: (() => void) | undefined;

  constructor(
    private readonly connections: ConnectionsService,
    private readonly sessions: SessionManager,
    private readonly changes: Changes,
    private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    this.unsubscribe = this.changes.watch(() => this.compare(), COMPARE_MS);
  }

  onModuleDestroy(): void {
    this.unsubscribe?.();
  }

  /**
   * The announcer waits for the look-up, not for the stop ladders of other people's sessions. What started meanwhile
   * with newer settings than those looked up stays.
   */
  private async compare(): Promise<void> {
    const held = this.sessions.held();
    if (held.length === 0) return;
    try {
      const current = await this.connections.launchStates(held.map(({ connectionId }) => connectionId));
      for (const { connectionId, launchRevision } of held) {
        const newest = current.get(connectionId);
        if (newest === undefined) void this.sessions.forget(connectionId);
        else if (launchRevision !== undefined && launchRevision <= outdatedRevision(newest)) {
          void this.sessions.stop(connectionId, outdatedRevision(newest));
        }
      }
    } catch (error) {
      this.logger.warn({ error }, 'sessions could not be compared with the database');
    }
  }
}
