import { Deadline, untilAborted } from '../../deadline.js';
import type { ProviderFailureReason } from '../../provider-failure.js';
import type { ConnectionLaunch } from '../connection.launch.js';
import { ConnectionSlots } from './connection-slots.js';
import type { LiveState, LiveStateName } from './live-state.js';
import { abortError, type ProviderSession } from './provider-session.js';
import { SessionError, toOpenError } from './session-error.js';
import type { OperationBounds, SessionOperation } from './session-operation.js';
import type { SessionListeners } from './session-listeners.js';
import type { SessionOpener } from './session-opener.js';
import { renewingOnce } from './session-renewal.js';

/**
 * The one owner of one lasting session: opens it on demand, shares it among callers, ends it when it idles, when its
 * launch settings change, or when it is told to.
 */
export class KeepAliveSession {
  inFlight = 0;
  lastUsedAt = performance.now();
  launchRevision = 0;
  private current: LiveState = { state: 'idle', since: new Date().toISOString() };
  private session: ProviderSession | undefined;
  private opening: Promise<ProviderSession> | undefined;
  private openingAbort: AbortController | undefined;
  private ending: Promise<void> | undefined;
  private readonly slots = new ConnectionSlots();
  private readonly retiring = new Set<ProviderSession>();
  private idleTimer: NodeJS.Timeout | undefined;

  constructor(
    readonly connectionId: string,
    private readonly opener: SessionOpener,
    private readonly listeners: SessionListeners,
    private readonly idleLimitMs: number,
  ) {}

  get state(): LiveState {
    return this.current;
  }

  get isActive(): boolean {
    return this.session !== undefined || this.opening !== undefined;
  }

  /**
   * Runs an operation on the session, opening it first if need be; waits for one of `maxConcurrentCalls` places. Runs it
   * once more, on a new session, when the provider had lost the first.
   */
  async use<T>(
    launch: ConnectionLaunch,
    agentId: string | null,
    bounds: OperationBounds,
    operation: SessionOperation<T>,
  ): Promise<T> {
    this.inFlight += 1;
    clearTimeout(this.idleTimer);
    try {
      return await renewingOnce(bounds.timeoutMs, async (time) => {
        const session = await this.ready(launch, bounds.signal);
        const deadline = new Deadline(time.leftMs, bounds.signal);
        try {
          const release = await this.slots.take(launch, agentId, deadline.signal);
          try {
            return await operation(session, deadline.signal);
          } finally {
            release();
          }
        } finally {
          time.leftMs = deadline.remainingMs;
          deadline.end();
        }
      });
    } finally {
      this.inFlight -= 1;
      this.lastUsedAt = performance.now();
      if (this.inFlight === 0) this.startIdleTimer();
    }
  }

  /** Ends the session and waits until nothing of it is left. Callers that come meanwhile wait, then open a new one. */
  stop(after: 'closed' | 'idle' = 'closed'): Promise<void> {
    clearTimeout(this.idleTimer);
    this.ending ??= this.end(after).finally(() => {
      this.ending = undefined;
    });
    return this.ending;
  }

  private async end(after: 'closed' | 'idle'): Promise<void> {
    const retired = [...this.retiring].map((session) => session.close());
    if (this.isActive) {
      this.openingAbort?.abort(new SessionError('interrupted', 'The session was stopped.'));
      await this.opening?.catch(() => undefined);
      const session = this.session;
      this.session = undefined;
      if (session !== undefined) await session.close();
      this.enter(after, 'stopped');
    }
    await Promise.all(retired);
  }

  /** The open session; 10 callers at once share one start. A caller that leaves does not end the start of the others. */
  private async ready(launch: ConnectionLaunch, signal: AbortSignal): Promise<ProviderSession> {
    await this.untilEnded(launch, signal);
    if (launch.launchRevision < this.launchRevision) throw outOfDate();
    if (this.session?.isOpen) return this.session;
    if (this.session !== undefined) this.retire(this.session);
    this.opening ??= this.start(launch).finally(() => {
      this.opening = undefined;
    });
    try {
      return await untilAborted(this.opening, signal);
    } catch (error) {
      throw signal.aborted ? abortError(signal, 'no') : error;
    }
  }

  /** Until an earlier session is gone, no longer than a start may take. */
  private async untilEnded(launch: ConnectionLaunch, signal: AbortSignal): Promise<void> {
    const outdated = this.isActive && launch.launchRevision > this.launchRevision;
    if (!outdated && this.ending === undefined) return;
    const deadline = new Deadline(launch.connectTimeoutMs, signal);
    try {
      if (outdated) await untilAborted(this.stop(), deadline.signal);
      while (this.ending !== undefined) await untilAborted(this.ending, deadline.signal);
    } catch (error) {
      if (signal.aborted) throw abortError(signal, 'no');
      if (!deadline.signal.aborted) throw error;
      throw new SessionError('busy', 'The earlier session of this connection has not ended yet.', { cause: error });
    } finally {
      deadline.end();
    }
  }

  /** Takes a session that is of no more use out of service; what others still wait for on it may finish. */
  private retire(session: ProviderSession): void {
    this.session = undefined;
    this.retiring.add(session);
    void session.retire().finally(() => this.retiring.delete(session));
    this.enter('error', 'unavailable', session.isLost ? 'http_error' : 'process_exited');
  }

  private async start(launch: ConnectionLaunch): Promise<ProviderSession> {
    this.launchRevision = launch.launchRevision;
    this.enter('connecting', 'starting');
    this.openingAbort = new AbortController();
    const deadline = new Deadline(launch.connectTimeoutMs, this.openingAbort.signal);
    try {
      const session = await this.opener.open(launch, deadline.signal);
      this.adopt(session, launch);
      return session;
    } catch (error) {
      const failure = toOpenError(error);
      this.enter('error', 'unavailable', failure.reason ?? 'unknown');
      throw failure;
    } finally {
      deadline.end();
      this.openingAbort = undefined;
    }
  }

  private adopt(session: ProviderSession, launch: ConnectionLaunch): void {
    this.session = session;
    if (launch.era?.era !== session.identity.era) this.listeners.eraLearned(launch.id, session.identity);
    session.onToolsChanged(() => this.listeners.onToolsChanged(launch.id));
    this.enter('connected', 'ready');
    void session.closed.then(() => {
      // when we ended it ourselves, it is no longer ours
      if (this.session !== session) return;
      this.session = undefined;
      void session.close();
      this.enter('error', 'unavailable', 'process_exited');
    });
  }

  private enter(
    state: LiveStateName,
    status: 'starting' | 'ready' | 'unavailable' | 'stopped',
    reason?: ProviderFailureReason,
  ): void {
    this.current = { state, since: new Date().toISOString(), ...(reason === undefined ? {} : { reason }) };
    this.listeners.onTransition(this.connectionId, { status, ...(reason === undefined ? {} : { reason }) });
  }

  private startIdleTimer(): void {
    this.idleTimer = setTimeout(() => {
      if (this.inFlight === 0) void this.stop('idle');
    }, this.idleLimitMs).unref();
  }
}

/** The caller read the connection before it was changed; the session in place is newer. */
function outOfDate(): SessionError {
  return new SessionError('interrupted', 'The settings of the connection changed while the call was prepared.');
}
