import { Deadline } from '../../deadline.js';
import type { ConnectionLaunch } from '../connection.launch.js';
import { CallSlots } from './call-slots.js';
import { EphemeralSessions } from './ephemeral-sessions.js';
import { KeepAliveSession } from './keep-alive-session.js';
import { isNewsOfEra } from './learned-era.js';
import type { LiveState, LiveStateName } from './live-state.js';
import { abortError, type ProviderIdentity, type ProviderSession } from './provider-session.js';
import { type SessionAgent, sessionAgentKey } from './session-agent.js';
import type { SessionContext, SessionTiming } from './session-context.js';
import { SessionError } from './session-error.js';
import type { SessionListeners } from './session-listeners.js';
import type { SessionOpener } from './session-opener.js';
import type { OperationBounds, SessionOperation } from './session-operation.js';
import { renewingOnce } from './session-renewal.js';
import { StartGuard } from './start-guard.js';

/** The liveliest state of several sessions speaks for the connection. */
const LIVELIEST: readonly LiveStateName[] = ['connected', 'connecting', 'error', 'closed', 'idle'];

/** The key of the session that belongs to no agent: that of the connection, or Warren's own beside those of agents. */
const COMMON = '';

/** One lasting session and the agent it belongs to. */
interface Lasting {
  session: KeepAliveSession;
  agent: SessionAgent | null;
}

/** All sessions of one connection in this process: lasting ones, one or one an agent, and those of one operation. */
export class ConnectionSessions implements SessionContext {
  private readonly lasting = new Map<string, Lasting>();
  private readonly ephemeral = new EphemeralSessions();
  private readonly ephemeralSlots = new CallSlots();
  private readonly since = new Date().toISOString();
  private guard = new StartGuard();
  private guardRevision = 0;
  private guardTimeoutMs = 0;

  constructor(
    readonly connectionId: string,
    readonly opener: Pick<SessionOpener, 'open'>,
    readonly listeners: SessionListeners,
    readonly timing: SessionTiming,
    readonly onQuiet: () => void = () => undefined,
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
    if (isNewsOfEra(era, identity.era)) this.listeners.eraLearned(id, identity);
  }

  /** False while the connection rests after repeated failures. */
  get available(): boolean {
    return this.guard.refusal === undefined;
  }

  get lastingStates(): LiveStateName[] {
    return this.sessions.map(({ state }) => state.state);
  }

  get state(): LiveState {
    const states = this.sessions.map(({ state }) => state);
    const { refusal, failingSince } = this.guard;
    if (refusal !== undefined)
      states.push({ state: 'error', since: failingSince, reason: refusal.reason ?? 'unknown' });
    return states.toSorted(byLife)[0] ?? { state: 'idle', since: this.since };
  }

  /** The oldest launch revision that something is held of: a lasting session, or the knowledge that it fails. */
  get heldRevision(): number | undefined {
    const held = this.sessions.filter(({ isActive }) => isActive).map(({ launchRevision }) => launchRevision);
    if (!this.available) held.push(this.guardRevision);
    return held.length === 0 ? undefined : Math.min(...held);
  }

  /** Whether anything lives, or is about to. */
  get isInUse(): boolean {
    return this.sessions.some(({ isInUse }) => isInUse) || this.ephemeral.count > 0;
  }

  /** The agents that have sessions of their own here. */
  get agents(): SessionAgent[] {
    return [...this.lasting.values()].flatMap(({ agent }) => (agent === null ? [] : [agent]));
  }

  /** The lasting sessions. */
  get sessions(): KeepAliveSession[] {
    return [...this.lasting.values()].map(({ session }) => session);
  }

  /** As `SessionManager.use`. */
  async use<T>(
    launch: ConnectionLaunch,
    agent: SessionAgent | null,
    bounds: OperationBounds,
    operation: SessionOperation<T>,
  ): Promise<T> {
    const isPerAgent = launch.sessionScope === 'agent';
    const key = isPerAgent && agent !== null ? sessionAgentKey(agent) : COMMON;
    // what Warren asks for itself takes no agent's session away
    const isFull = this.othersInUse(key).length >= launch.maxSessions;
    const isGuest = isPerAgent && key === COMMON && isFull && this.lasting.get(key)?.session.isInUse !== true;
    if (launch.lifecycle === 'ephemeral' || isGuest) return this.useEphemeral(launch, agent, bounds, operation);
    const owner = isPerAgent ? agent : null;
    // nothing is awaited between finding a session and its call counting as in flight
    return this.sessionOf(key, owner, launch.maxSessions).use(launch, agent?.id ?? null, bounds, operation);
  }

  /** Ends what runs on settings up to this launch revision, and waits until it is gone. */
  async stop(upToRevision = Infinity): Promise<void> {
    // what comes after it starts with a clean slate
    if (this.guardRevision <= upToRevision) this.guard = new StartGuard();
    const ending = this.sessions
      .filter(({ launchRevision }) => launchRevision <= upToRevision)
      .map((session) => session.stop());
    await Promise.all([...ending, this.ephemeral.stop(upToRevision)]);
  }

  /** Ends the session of an agent that is gone. */
  async endAgent(agent: SessionAgent): Promise<void> {
    await this.lasting.get(sessionAgentKey(agent))?.session.stop();
    this.forgetDead();
  }

  private async useEphemeral<T>(
    launch: ConnectionLaunch,
    agent: SessionAgent | null,
    bounds: OperationBounds,
    operation: SessionOperation<T>,
  ): Promise<T> {
    const inLine = new Deadline(bounds.timeoutMs, bounds.signal);
    const agentId = agent?.id ?? null;
    const release = await this.ephemeralSlots.take(launch, agentId, inLine.signal).finally(() => inLine.end());
    const stay = this.ephemeral.enter(launch.launchRevision, bounds.signal);
    const { signal } = stay;
    const start = (): Promise<ProviderSession> => this.openEphemeral(launch, signal);
    try {
      return await renewingOnce(inLine.remainingMs, async (time) => {
        const session = await this.guardOf(launch).run(start, { signal, insists: agent === null });
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

  /** At most `maxSessions` live: the idle one used longest ago makes room, never one with a call in flight. */
  private sessionOf(key: string, agent: SessionAgent | null, maxSessions: number): KeepAliveSession {
    const found = this.lasting.get(key)?.session;
    const lives = found?.isInUse === true;
    // also for one that lives: the bound may be lower than when the others came
    const room = this.makeRoom(key, maxSessions, lives);
    if (found !== undefined && lives) return found;
    const session = found ?? new KeepAliveSession(this);
    this.forgetDead();
    this.lasting.set(key, { session, agent });
    if (room !== undefined) session.openAfter(room);
    return session;
  }

  private othersInUse(key: string): [string, Lasting][] {
    return [...this.lasting].filter(([other, { session }]) => other !== key && session.isInUse);
  }

  /** Resolves when the idle ones that are too many beside this one are gone; undefined when none are. */
  private makeRoom(key: string, maxSessions: number, lives: boolean): Promise<unknown> | undefined {
    const others = this.othersInUse(key);
    const tooMany = others.length + 1 - maxSessions;
    if (tooMany <= 0) return undefined;
    const idle = others.filter(([, { session }]) => session.inFlight === 0).toSorted(byWorth);
    if (idle.length < tooMany && !lives) {
      throw new SessionError('busy', 'As many sessions of this connection as are allowed are in use.');
    }
    const leaving = idle.slice(0, tooMany);
    // each makes room once: whoever comes next finds another
    for (const [leaver] of leaving) this.lasting.delete(leaver);
    return Promise.all(leaving.map(([, { session }]) => session.stop('idle')));
  }

  /** What an agent had is worth nothing once it has ended. */
  private forgetDead(): void {
    for (const [key, { session }] of this.lasting) if (!session.isInUse) this.lasting.delete(key);
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

/** The liveliest state first; of several such the one entered last. */
function byLife(a: LiveState, b: LiveState): number {
  return LIVELIEST.indexOf(a.state) - LIVELIEST.indexOf(b.state) || Date.parse(b.since) - Date.parse(a.since);
}

/** What is least missed first: what is ending, then what belongs to no agent, then what was used longest ago. */
function byWorth([keyA, { session: a }]: [string, Lasting], [keyB, { session: b }]: [string, Lasting]): number {
  return (
    Number(a.isActive) - Number(b.isActive) ||
    Number(keyA !== COMMON) - Number(keyB !== COMMON) ||
    a.lastUsedAt - b.lastUsedAt
  );
}
