import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { Settings } from '../../config.js';
import { SETTINGS } from '../../settings.token.js';
import type { ConnectionLaunch } from '../connection.launch.js';
import { ConnectionSlots } from './connection-slots.js';
import { EphemeralSessions } from './ephemeral-sessions.js';
import { KeepAliveSession } from './keep-alive-session.js';
import type { LiveState } from './live-state.js';
import { ProviderProcesses } from './provider-processes.js';
import { abortError, type ProviderIdentity, type ProviderSession } from './provider-session.js';
import { SessionError } from './session-error.js';
import type { OperationBounds, SessionOperation } from './session-operation.js';
import { SessionListeners } from './session-listeners.js';
import { SessionOpener } from './session-opener.js';
import { renewingOnce } from './session-renewal.js';
import { Deadline } from '../../deadline.js';

/** Every session of this process: keeps the lasting ones, opens and ends the others. */
@Injectable()
export class SessionManager implements OnApplicationShutdown {
  private readonly lasting = new Map<string, KeepAliveSession>();
  private readonly startedAt = new Date().toISOString();
  private readonly ephemeralSlots = new ConnectionSlots();
  private readonly ephemeral = new EphemeralSessions();
  private closing = false;

  constructor(
    private readonly opener: SessionOpener,
    private readonly processes: ProviderProcesses,
    private readonly listeners: SessionListeners,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /**
   * Runs one operation on a ready session, within `timeoutMs` counted from the session being ready, waiting in line
   * included. Ephemeral sessions are opened for it and ended after it, without the answer waiting for the end.
   * Errors: `SessionError` when no session can be had, or what the operation throws.
   */
  async use<T>(
    launch: ConnectionLaunch,
    agentId: string | null,
    bounds: OperationBounds,
    operation: SessionOperation<T>,
  ): Promise<T> {
    if (this.closing) throw new SessionError('busy', 'The server is shutting down.');
    if (launch.lifecycle === 'ephemeral') return this.useEphemeral(launch, agentId, bounds, operation);
    const lasting = await this.lastingFor(launch, agentId);
    return lasting.use(launch, agentId, bounds, operation);
  }

  /** Starts a keep_alive session; 10 callers at once start one process. Errors: `SessionError`. */
  async start(launch: ConnectionLaunch, signal: AbortSignal = new AbortController().signal): Promise<void> {
    const lasting = await this.lastingFor(launch, null);
    await lasting.use(launch, null, { signal, timeoutMs: launch.callTimeoutMs }, () => Promise.resolve());
  }

  /** What this process knows of a connection's session. */
  live(connectionId: string): LiveState {
    const processes = this.processes.of(connectionId);
    const states = this.of(connectionId).map(({ state }) => state);
    const state = states.find(({ state: name }) => name === 'connected') ??
      states.find(({ state: name }) => name === 'connecting') ??
      states[0] ?? { state: 'idle' as const, since: this.startedAt };
    return processes.length === 0 ? state : { ...state, processes };
  }

  /** Ends the sessions of a connection, ephemeral ones too, and waits until they are gone. */
  async stop(connectionId: string): Promise<void> {
    const ending = this.of(connectionId).map((session) => session.stop());
    await Promise.all([...ending, this.ephemeral.stop(connectionId)]);
  }

  /** Forgets a deleted connection. */
  async forget(connectionId: string): Promise<void> {
    await this.stop(connectionId);
    this.ephemeralSlots.forget(connectionId);
    for (const [key, session] of this.lasting) if (session.connectionId === connectionId) this.lasting.delete(key);
  }

  /** Ids and launch revisions of the connections with a lasting session. */
  held(): { connectionId: string; launchRevision: number }[] {
    return [...this.lasting.values()]
      .filter((session) => session.isActive)
      .map(({ connectionId, launchRevision }) => ({ connectionId, launchRevision }));
  }

  /** Ends everything and accepts nothing more; by then the HTTP server has answered its last call. */
  async onApplicationShutdown(): Promise<void> {
    this.closing = true;
    await Promise.all([...[...this.lasting.values()].map((session) => session.stop()), this.ephemeral.stopAll()]);
    await this.processes.stopAll();
  }

  private of(connectionId: string): KeepAliveSession[] {
    return [...this.lasting.values()].filter((session) => session.connectionId === connectionId);
  }

  private async lastingFor(launch: ConnectionLaunch, agentId: string | null): Promise<KeepAliveSession> {
    const scoped = launch.sessionScope === 'agent' && agentId !== null;
    const key = JSON.stringify(scoped ? [launch.id, agentId] : [launch.id]);
    const found = this.lasting.get(key);
    if (found !== undefined) return found;
    await this.makeRoom(launch);
    // another caller may have come first while room was made
    const again = this.lasting.get(key);
    if (again !== undefined) return again;
    const created = new KeepAliveSession(
      launch.id,
      this.opener,
      this.listeners,
      this.settings.WARREN_IDLE_SECONDS * 1_000,
    );
    this.lasting.set(key, created);
    return created;
  }

  /** At most `maxSessions` a connection: the idle one used longest ago makes room, never one with a call in flight. */
  private async makeRoom(launch: ConnectionLaunch): Promise<void> {
    const current = [...this.lasting].filter(([, session]) => session.connectionId === launch.id);
    if (current.length < launch.maxSessions) return;
    const idle = current.filter(([, session]) => session.inFlight === 0);
    const [key, oldest] = idle.toSorted(([, a], [, b]) => a.lastUsedAt - b.lastUsedAt)[0] ?? [];
    if (key === undefined || oldest === undefined) {
      throw new SessionError('busy', `All ${launch.maxSessions} sessions of this connection are in use.`);
    }
    this.lasting.delete(key);
    await oldest.stop();
  }

  private async useEphemeral<T>(
    launch: ConnectionLaunch,
    agentId: string | null,
    bounds: OperationBounds,
    operation: SessionOperation<T>,
  ): Promise<T> {
    const release = await this.ephemeralSlots.take(launch, agentId, bounds.signal);
    const stay = this.ephemeral.enter(launch.id, bounds.signal);
    try {
      return await renewingOnce(bounds.timeoutMs, async (time) => {
        const session = await this.openEphemeral(launch, stay.signal);
        const deadline = new Deadline(time.leftMs, stay.signal);
        try {
          return await operation(session, deadline.signal);
        } finally {
          time.leftMs = deadline.remainingMs;
          deadline.end();
          stay.leaveWhen(session.close());
        }
      });
    } finally {
      stay.leave();
      release();
    }
  }

  private async openEphemeral(launch: ConnectionLaunch, signal: AbortSignal): Promise<ProviderSession> {
    const starting = new Deadline(launch.connectTimeoutMs, signal);
    try {
      const session = await this.opener.open(launch, starting.signal);
      this.noteEra(launch, session.identity);
      return session;
    } catch (error) {
      throw signal.aborted ? abortError(signal, 'no') : error;
    } finally {
      starting.end();
    }
  }

  private noteEra(launch: ConnectionLaunch, identity: ProviderIdentity): void {
    if (launch.era?.era !== identity.era) this.listeners.eraLearned(launch.id, identity);
  }
}
