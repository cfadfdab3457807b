import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { Settings } from '../../config.js';
import { SETTINGS } from '../../settings.token.js';
import type { ConnectionLaunch } from '../connection.launch.js';
import { ConnectionSessions } from './connection-sessions.js';
import type { LiveState, LiveStateName } from './live-state.js';
import { ProviderProcesses } from './provider-processes.js';
import { reconnectTiming } from './reconnect-budget.js';
import { type SessionAgent, sessionAgentKey } from './session-agent.js';
import type { SessionTiming } from './session-context.js';
import { SessionError } from './session-error.js';
import { SessionListeners } from './session-listeners.js';
import { SessionOpener } from './session-opener.js';
import type { OperationBounds, SessionOperation } from './session-operation.js';

/** Remote sessions nobody uses are asked for a sign of life this often, milliseconds. */
const WARM_EVERY_MS = 180_000;

/** Every session of this process: keeps the lasting ones, opens and ends the others. */
@Injectable()
export class SessionManager implements OnApplicationShutdown {
  private readonly connections = new Map<string, ConnectionSessions>();
  private readonly startedAt = new Date().toISOString();
  private readonly timing: SessionTiming;
  private closing = false;

  constructor(
    private readonly opener: SessionOpener,
    private readonly processes: ProviderProcesses,
    private readonly listeners: SessionListeners,
    @Inject(SETTINGS) settings: Settings,
  ) {
    const idleMs = settings.WARREN_IDLE_SECONDS * 1_000;
    processes.makeRoom = () => this.endLongestIdle();
    this.timing = { idleMs, warmEveryMs: WARM_EVERY_MS, reconnect: reconnectTiming };
  }

  /**
   * Runs one operation on a ready session, within `timeoutMs` counted from the session being ready, waiting in line
   * included. Ephemeral sessions are opened for it and ended after it, without the answer waiting for the end. Without
   * an agent it is Warren's own or an operator's operation, which is tried even while the connection rests.
   * Errors: `SessionError` when no session can be had, or what the operation throws.
   */
  async use<T>(
    launch: ConnectionLaunch,
    agent: SessionAgent | null,
    bounds: OperationBounds,
    operation: SessionOperation<T>,
  ): Promise<T> {
    if (this.closing) throw new SessionError('busy', 'The server is shutting down.');
    return this.of(launch.id).use(launch, agent, bounds, operation);
  }

  /** Starts a keep_alive session and writes that down; 10 callers at once start one process. Errors: `SessionError`. */
  async start(launch: ConnectionLaunch, signal: AbortSignal = new AbortController().signal): Promise<void> {
    await this.use(launch, null, { signal, timeoutMs: launch.callTimeoutMs }, () => Promise.resolve());
    await this.listeners.recorded();
  }

  /** What this process knows of a connection's session. */
  live(connectionId: string): LiveState {
    const processes = this.processes.of(connectionId);
    const state = this.connections.get(connectionId)?.state ?? { state: 'idle' as const, since: this.startedAt };
    return processes.length === 0 ? state : { ...state, processes };
  }

  /** Whether a call has a chance: false while the connection rests after repeated failures. */
  isAvailable(connectionId: string): boolean {
    return this.connections.get(connectionId)?.available ?? true;
  }

  /** The state of each lasting session, in no order. */
  lastingStates(): LiveStateName[] {
    return [...this.connections.values()].flatMap(({ lastingStates }) => lastingStates);
  }

  /** Ends what runs on settings up to this launch revision, ephemeral sessions too; resolves when that is so and written down. */
  async stop(connectionId: string, upToRevision?: number): Promise<void> {
    await this.connections.get(connectionId)?.stop(upToRevision);
    await this.listeners.recorded();
  }

  /** Ends the sessions of a connection that is gone, and forgets what was known of it. */
  async forget(connectionId: string): Promise<void> {
    const sessions = this.connections.get(connectionId);
    await sessions?.stop();
    // who came meanwhile must stay known: another stop has to find it
    if (sessions?.isInUse === false) this.connections.delete(connectionId);
  }

  /** The connections that something is known of; the launch revision where something lasting is. */
  held(): { connectionId: string; launchRevision: number | undefined }[] {
    return [...this.connections].map(([connectionId, { heldRevision: launchRevision }]) => ({
      connectionId,
      launchRevision,
    }));
  }

  /** The agents that have sessions of their own. */
  agents(): SessionAgent[] {
    const agents = [...this.connections.values()].flatMap((sessions) => sessions.agents);
    return [...new Map(agents.map((agent) => [sessionAgentKey(agent), agent])).values()];
  }

  /** Ends the sessions of an agent, and waits until they are gone. */
  async endAgent(agent: SessionAgent): Promise<void> {
    await Promise.all([...this.connections.values()].map((sessions) => sessions.endAgent(agent)));
  }

  /** Ends everything and accepts nothing more; by then the HTTP server has answered its last call. */
  onApplicationShutdown(): Promise<void> {
    return this.endAll();
  }

  /** As at shutdown; may be asked for more than once. */
  async endAll(): Promise<void> {
    this.closing = true;
    await Promise.all([...this.connections.values()].map((sessions) => sessions.stop()));
    await this.processes.stopAll();
  }

  /** Kills every provider process that is left; for a server that must be gone now. */
  killProcesses(): Promise<void> {
    return this.processes.killAll();
  }

  /** Lets a process that wants to start have the slot of the one whose session nobody has used for longest. */
  private endLongestIdle(): void {
    const idle = [...this.connections.values()]
      .flatMap(({ sessions }) => sessions)
      .filter(({ isIdle, holdsProcess }) => isIdle && holdsProcess)
      .toSorted((a, b) => a.lastUsedAt - b.lastUsedAt);
    void idle[0]?.stop('idle');
  }

  private of(connectionId: string): ConnectionSessions {
    const found = this.connections.get(connectionId);
    if (found !== undefined) return found;
    const onQuiet = (): void => {
      if (this.processes.areAwaited) this.endLongestIdle();
    };
    const created = new ConnectionSessions(connectionId, this.opener, this.listeners, this.timing, onQuiet);
    this.connections.set(connectionId, created);
    return created;
  }
}
