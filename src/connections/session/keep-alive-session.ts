import { Deadline, untilAborted } from '../../deadline.js';
import type { ProviderFailureReason } from '../../provider-failure.js';
import type { ConnectionLaunch } from '../connection.launch.js';
import { CallSlots } from './call-slots.js';
import { LinkHealth } from './link-health.js';
import type { LiveState } from './live-state.js';
import { toOpenError } from './open-error.js';
import { abortError, type ProviderSession } from './provider-session.js';
import { QuietTimers } from './quiet-timers.js';
import { SessionError } from './session-error.js';
import type { SessionContext } from './session-context.js';
import type { OperationBounds, SessionOperation } from './session-operation.js';
import { SessionRecovery } from './session-recovery.js';
import { renewingOnce } from './session-renewal.js';
import { statusOf } from './session-status.js';

type Phase =
  | { state: 'idle' | 'error' | 'closed' }
  | { state: 'connecting'; opened: Promise<ProviderSession>; abort: AbortController }
  | { state: 'connected'; session: ProviderSession; launch: ConnectionLaunch; at: number };

/**
 * The one owner of one lasting session: opens it on demand, shares it among callers, brings it back when it breaks, keeps
 * a remote one warm, ends it when it idles, when its launch settings change, or when it is told to.
 */
export class KeepAliveSession {
  inFlight = 0;
  lastUsedAt = performance.now();
  launchRevision = 0;
  private phase: Phase = { state: 'idle' };
  private shown: LiveState = { state: 'idle', since: new Date().toISOString() };
  private readonly slots = new CallSlots();
  private readonly retiring = new Set<ProviderSession>();
  private readonly health: LinkHealth;
  private readonly recovery: SessionRecovery;
  private readonly quiet: QuietTimers;
  private ending: Promise<void> | undefined;

  constructor(private readonly context: SessionContext) {
    this.health = new LinkHealth((session, reason) => this.broke(session, reason));
    this.recovery = new SessionRecovery(context.timing.reconnect, () => this.reconnect());
    this.quiet = new QuietTimers(context.timing);
  }

  get state(): LiveState {
    return this.shown;
  }

  /** A session that nobody uses does not live on by breaking again and again. */
  private get idleLeftMs(): number {
    return this.lastUsedAt + this.context.timing.idleMs - performance.now();
  }

  /** Whether something of it lives, or will by itself. */
  get isActive(): boolean {
    const { state } = this.phase;
    return state === 'connecting' || state === 'connected' || this.recovery.isDue;
  }

  /** Whether anything lives, or is about to, or has not ended yet. */
  get isInUse(): boolean {
    return this.isActive || this.inFlight > 0 || this.ending !== undefined;
  }

  /** Whether it holds a link, and nobody uses it. */
  get isIdle(): boolean {
    return this.phase.state === 'connected' && this.inFlight === 0 && this.ending === undefined;
  }

  /** Whether its link is a process on this machine. */
  get holdsProcess(): boolean {
    return this.phase.state === 'connected' && this.phase.launch.transport === 'stdio';
  }

  /**
   * Runs an operation on the session, opening it first if need be; waits for one of `maxConcurrentCalls` places. Runs it
   * once more, on a new session, when the provider had lost the first. `agentId` is null for Warren's own operations.
   */
  async use<T>(
    launch: ConnectionLaunch,
    agentId: string | null,
    bounds: OperationBounds,
    operation: SessionOperation<T>,
  ): Promise<T> {
    this.inFlight += 1;
    this.quiet.stop();
    try {
      return await renewingOnce(bounds.timeoutMs, async (time) => {
        const session = await this.ready(launch, bounds.signal, agentId === null);
        const deadline = new Deadline(time.leftMs, bounds.signal);
        try {
          const release = await this.slots.take(launch, agentId, deadline.signal);
          try {
            const done = await operation(session, deadline.signal);
            this.health.succeeded();
            return done;
          } finally {
            release();
          }
        } catch (error) {
          this.health.failed(error, session, launch);
          throw this.ending === undefined ? error : endedHere(error);
        } finally {
          time.leftMs = deadline.remainingMs;
          deadline.end();
        }
      });
    } finally {
      this.inFlight -= 1;
      this.lastUsedAt = performance.now();
      if (this.inFlight === 0) this.becomeQuiet();
    }
  }

  /** Ends the session and waits until nothing of it is left. Callers that come meanwhile wait, then open a new one. */
  stop(after: 'closed' | 'idle' = 'closed'): Promise<void> {
    this.quiet.stop();
    this.recovery.end();
    if (this.ending === undefined) this.endsWith(this.end(after));
    return this.ending ?? Promise.resolve();
  }

  /** What must be gone before the session opens; only for one that does not live. */
  openAfter(predecessors: Promise<unknown>): void {
    this.endsWith(predecessors);
  }

  private endsWith(end: Promise<unknown> | undefined): void {
    this.ending = end
      ?.then(() => undefined)
      .finally(() => {
        this.ending = undefined;
      });
  }

  private async end(after: 'closed' | 'idle'): Promise<void> {
    const retired = [...this.retiring].map((session) => session.close());
    const { phase } = this;
    if (phase.state === 'connecting') phase.abort.abort(new SessionError('interrupted', 'The session was stopped.'));
    const session =
      phase.state === 'connecting'
        ? await phase.opened.catch(() => undefined)
        : phase.state === 'connected'
          ? phase.session
          : undefined;
    if (phase.state !== 'idle' && phase.state !== 'closed') this.enter({ state: after });
    await session?.close();
    await Promise.all(retired);
  }

  /** The open session; 10 callers at once share one start. A caller that leaves does not end the start of the others. */
  private async ready(launch: ConnectionLaunch, signal: AbortSignal, insists: boolean): Promise<ProviderSession> {
    await this.untilEnded(launch, signal);
    if (launch.launchRevision < this.launchRevision) throw outOfDate();
    const { phase } = this;
    if (phase.state === 'connected' && phase.session.isOpen) return phase.session;
    if (phase.state === 'connected') this.broke(phase.session, breakReason(launch));
    const opened = phase.state === 'connecting' ? phase.opened : this.open(launch, insists);
    try {
      return await untilAborted(opened, signal);
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

  private open(launch: ConnectionLaunch, insists: boolean): Promise<ProviderSession> {
    const refusal = insists ? undefined : this.context.guardOf(launch).refusal;
    // while the connection rests nothing begins, so nothing is told either
    if (refusal !== undefined) return Promise.reject(refusal);
    this.recovery.standBack();
    this.launchRevision = launch.launchRevision;
    const abort = new AbortController();
    const opened = this.connect(launch, abort.signal, insists);
    this.enter({ state: 'connecting', opened, abort });
    return opened;
  }

  private async connect(launch: ConnectionLaunch, stopped: AbortSignal, insists: boolean): Promise<ProviderSession> {
    const deadline = new Deadline(launch.connectTimeoutMs, stopped);
    const { signal } = deadline;
    try {
      const start = (): Promise<ProviderSession> => this.context.opener.open(launch, signal);
      const session = await this.context.guardOf(launch).run(start, { signal, insists });
      // told to end meanwhile: who ends it waits for this, and takes it from here
      if (!stopped.aborted) this.adopt(session, launch);
      return session;
    } catch (error) {
      const failure = toOpenError(error);
      if (!stopped.aborted) {
        this.enter({ state: 'error' }, failure.reason ?? 'unknown');
        this.recovery.failed(failure);
      }
      throw failure;
    } finally {
      deadline.end();
    }
  }

  private adopt(session: ProviderSession, launch: ConnectionLaunch): void {
    this.recovery.succeeded();
    this.context.noteEra(launch, session.identity);
    session.onToolsChanged(() => this.context.listeners.onToolsChanged(launch.id));
    this.enter({ state: 'connected', session, launch, at: performance.now() });
    void session.closed.then(() => this.broke(session, breakReason(launch)));
    if (this.inFlight === 0) this.becomeQuiet();
  }

  /** Takes a broken session out of service; what others still wait for on it may finish. It comes back by itself. */
  private broke(session: ProviderSession, reason: ProviderFailureReason): void {
    const { phase } = this;
    // one that we end ourselves is no longer ours
    if (phase.state !== 'connected' || phase.session !== session || this.ending !== undefined) return;
    this.quiet.stop();
    this.retiring.add(session);
    void session.retire().finally(() => this.retiring.delete(session));
    this.context.guardOf(phase.launch).suspect();
    this.enter({ state: 'error' }, reason);
    this.recovery.broke(performance.now() - phase.at);
  }

  /** One attempt, with the settings of now. Never rejects. */
  private async reconnect(): Promise<void> {
    const { phase } = this;
    try {
      const launch = await this.context.listeners.currentLaunch(this.context.connectionId);
      const untouched = this.phase === phase && phase.state === 'error' && this.ending === undefined;
      if (!untouched || launch?.lifecycle !== 'keep_alive' || !launch.enabled) return;
      if (this.inFlight === 0 && this.idleLeftMs <= 0) return this.enter({ state: 'idle' });
      await this.open(launch, false);
    } catch (error) {
      if (this.phase.state === 'error' && this.ending === undefined) this.recovery.failed(toOpenError(error));
    }
  }

  private enter(phase: Phase, reason?: ProviderFailureReason): void {
    this.phase = phase;
    const because = reason === undefined ? {} : { reason };
    this.shown = { state: phase.state, since: new Date().toISOString(), ...because };
    this.context.listeners.onTransition(this.context.connectionId, { status: statusOf[phase.state], ...because });
  }

  /** Nobody uses the session: it idles away in the end, and a remote one is kept warm until then. */
  private becomeQuiet(): void {
    const { phase } = this;
    if (phase.state !== 'connected' || this.ending !== undefined) return;
    // a local pipe needs no traffic to stay open
    const warm = phase.launch.transport === 'http' ? () => this.health.isAlive(phase.session, phase.launch) : undefined;
    this.quiet.start(Math.max(0, this.idleLeftMs), () => void this.stop('idle'), warm);
    this.context.onQuiet();
  }
}

/** Whoever waited for an answer should not believe that the provider broke. */
function endedHere(error: unknown): unknown {
  if (!(error instanceof SessionError) || error.kind !== 'interrupted') return error;
  const { sent } = error;
  return new SessionError('interrupted', 'The session was ended here before the answer came.', { sent, cause: error });
}

/** The caller read the connection before it was changed; the session in place is newer. */
function outOfDate(): SessionError {
  return new SessionError('interrupted', 'The settings of the connection changed while the call was prepared.');
}

function breakReason({ transport }: ConnectionLaunch): ProviderFailureReason {
  return transport === 'stdio' ? 'process_exited' : 'http_error';
}
