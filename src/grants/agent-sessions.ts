import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Changes } from '../changes.js';
import { SessionManager } from '../connections/session/session-manager.js';
import { Logger } from '../logger.js';
import { AgentsRepository } from './agents.repository.js';

/** How often held sessions are compared with the database when no change was announced, milliseconds. */
const COMPARE_MS = 2_000;

/** Ends the sessions of agents that were deleted or disabled, here or by another replica. */
@Injectable()
export class AgentSessions implements OnApplicationBootstrap, OnModuleDestroy {
  private unsubscribe: (() => void) | undefined;

  constructor(
    private readonly agents: AgentsRepository,
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

  /** The announcer waits for the look-up, not for the ends of the sessions. */
  private async compare(): Promise<void> {
    const held = this.sessions.agents();
    if (held.length === 0) return;
    try {
      const enabled = await this.agents.enabledSince(held.map(({ id }) => id));
      for (const agent of held) {
        if (enabled.get(agent.id)?.getTime() !== agent.createdAt.getTime()) void this.sessions.endAgent(agent);
      }
    } catch (error) {
      this.logger.warn({ error }, 'the sessions of agents could not be compared with the database');
    }
  }
}
