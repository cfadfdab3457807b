import { Deadline } from '../../deadline.js';
import type { ConnectionLaunch } from '../connection.launch.js';
import { ConnectionSlots } from './connection-slots.js';
import { EphemeralSessions } from './ephemeral-sessions.js';
import { KeepAliveSession } from './keep-alive-session.js';
import type { LiveState, LiveStateName } from './live-state.js';
import { abortError, type ProviderIdentity, type ProviderSession } from './provider-session.js';
import type { SessionContext, SessionTiming } from './session-context.js';
import { SessionError } from './session-error.js';
import type { SessionListeners } from './session-listeners.js';
import type { SessionOpener } from './session-opener.js';
import type { OperationBounds, SessionOperation } from './session-operation.js';
import { renewingOnce } from './session-renewal.js';
import { StartGuard } from './start-guard.js';

/** The liveliest state of several sessions speaks for the connection. */
const LIVELIEST: readonly LiveStateName[] = ['connected', 'connecting', 'error', 'closed', 'idle'];

/** All sessions of one connection in this process: lasting ones, one or one an agent, and those of one operation. */
export class ConnectionSessions implements SessionContext {
  private readonly lasting = new Map<string, KeepAliveSession>();
  private readonly ephemeral = new EphemeralSessions();
  private readonly ephemeralSlots = new ConnectionSlots();
  private readonly since = new Date().toISOString();
  private guard = new StartGuard();
  private guardRevision = 0;
  private guardTimeoutMs = 0;

  constructor(
    readonly connectionId: string,
    readonly opener: Pick<SessionOpener, 'open'>,
    readonly listeners: SessionListeners,
    readonly timing: SessionTiming,
  ) {}

  guardOf({ launchRevision, connectTimeoutMs }: ConnectionLaunch): StartGuard {
    // another bound on the start may be the mend
    const isRenewed = launchRevision === this.guardRevision && connectTimeoutMs !== this.guardTimeoutMs;
    if (launchRevision > this.guardRevision || isRenewed) {
      this.guard = new StartGuard();
      this.guardRevision = launchRevision;
      this.guardTimeoutMs = connectTimeoutMs;
    }
    return this.guard;
  }

  noteEra({ id, era }: ConnectionLaunch, identity: ProviderIdentity): void {
    if (era?.era !== identity.era) this.listeners.eraLearned(id, identity);
  }

  /** False while the connection rests after repeated failures. */
  get available(): boolean {
    return this.guard.refusal === undefined;
  }

  get lastingStates(): LiveStateName[] {
    return [...this.lasting.values()].map(({ state }) => state.state);
  }

  get state(): LiveState {
    const states = [...this.lasting.values()].map(({ state }) => state);
    const { refusal, failingSince } = this.guard;
    if (refusal !== undefined)
      states.push({ state: 'error', since: failingSince, reason: refusal.reason ?? 'unknown' });
    const liveliest = states.toSorted((a, b) => LIVELIEST.indexOf(a.state) - LIVELIEST.indexOf(b.state))[0];
    return liveliest ?? { state: 'idle', since: this.since };
  }

  /** The oldest launch revision that something is held of: a lasting session, or the knowledge that it fails. */
  get heldRevision(): number | undefined {
    const held = [...this.lasting.values()].filter(({ isActive }) => isActive).map((session) => session.launchRevision);
    if (!this.available) held.push(this.guardRevision);
    return held.length === 0 ? undefined : Math.min(...held);
  }

  /** Whether anything lives, or is about to. */
  get inUse(): boolean {
    const lasting = [...this.lasting.values()].some(({ isActive, inFlight }) => isActive || inFlight > 0);
    return lasting || this.ephemeral.count > 0;
  }

  /** As `SessionManager.use`, for a keep_alive connection. */
  useLasting<T>(
    launch: ConnectionLaunch,
    agentId: string | null,
    bounds: OperationBounds,
    operation: SessionOperation<T>,
  ): Promise<T> {
    const key = launch.sessionScope === 'agent' && agentId !== null ? agentId : '';
    // nothing is awaited between finding a session and its call counting as in flight
    return this.sessionOf(key, launch.maxSessions).use(launch, agentId, bounds, operation);
  }

  /** As `SessionManager.use`, for an ephemeral connection. */
  async useEphemeral<T>(
    launch: ConnectionLaunch,
    agentId: string | null,
    bounds: OperationBounds,
    operation: SessionOperation<T>,
  ): Promise<T> {
    const inLine = new Deadline(bounds.timeoutMs, bounds.signal);
    const release = await this.ephemeralSlots.take(launch, agentId, inLine.signal).finally(() => inLine.end());
    const stay = this.ephemeral.enter(bounds.signal);
    const { signal } = stay;
    const start = (): Promise<ProviderSession> => this.openEphemeral(launch, signal);
    try {
      return await renewingOnce(inLine.remainingMs, async (time) => {
        const session = await this.guardOf(launch).run(start, { signal, insists: agentId === null });
        const deadline = new Deadline(time.leftMs, signal);
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

  /** Ends every session, and waits until they are gone. What comes after it starts with a clean slate. */
  async stop(): Promise<void> {
    this.guard = new StartGuard();
    const ending = [...this.lasting.values()].map((session) => session.stop());
    await Promise.all([...ending, this.ephemeral.stop()]);
  }

  /** At most `maxSessions`: the idle one used longest ago makes room, never one with a call in flight. */
  private sessionOf(key: string, maxSessions: number): KeepAliveSession {
    const found = this.lasting.get(key);
    if (found !== undefined) return found;
    const created = new KeepAliveSession(this, this.lasting.size < maxSessions ? undefined : this.evict(maxSessions));
    this.lasting.set(key, created);
    return created;
  }

  private evict(maxSessions: number): Promise<void> {
    const idle = [...this.lasting].filter(([, { inFlight }]) => inFlight === 0);
    const [key, oldest] = idle.toSorted(([, a], [, b]) => a.lastUsedAt - b.lastUsedAt)[0] ?? [];
    if (key === undefined || oldest === undefined) {
      throw new SessionError('busy', `All ${maxSessions} sessions of this connection are in use.`);
    }
    this.lasting.delete(key);
    return oldest.stop('idle');
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
}
