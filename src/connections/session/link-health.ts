import { Deadline } from '../../deadline.js';
import type { ProviderFailureReason } from '../../provider-failure.js';
import type { ConnectionLaunch } from '../connection.launch.js';
import type { ProviderSession } from './provider-session.js';
import { isPassing, SessionError } from './session-error.js';

/** So many calls in a row that did not get through, and the link counts as gone; one may be a moment's trouble. */
const MISSES = 3;

/** Tells, from what operations on a session meet and from asking, whether its link is gone. */
export class LinkHealth {
  private signsOfLife = 0;
  private misses = 0;
  private asking: { session: ProviderSession; alive: Promise<boolean> } | undefined;

  /** `gone` is called when a session's link counts as gone. */
  constructor(private readonly gone: (session: ProviderSession, reason: ProviderFailureReason) => void) {}

  /** Something got through. */
  succeeded(): void {
    this.signsOfLife += 1;
    this.misses = 0;
  }

  /** An operation failed. */
  failed(error: unknown, session: ProviderSession, launch: ConnectionLaunch): void {
    if (session.isLost) return this.gone(session, 'http_error');
    if (!(error instanceof SessionError)) return;
    // silence of a local provider says nothing: it may be busy, and its pipe tells when it is gone
    if (error.kind === 'timeout' && launch.transport === 'http') void this.isAlive(session, launch);
    const missed = error.kind === 'unreachable' && error.sent === 'no' && isPassing(error);
    this.misses = missed ? this.misses + 1 : 0;
    if (this.misses < MISSES) return;
    this.misses = 0;
    this.gone(session, error.reason ?? 'unknown');
  }

  /** Asks whether the provider gives any answer; without one the link is gone. Who asks at once shares the answer. */
  isAlive(session: ProviderSession, launch: ConnectionLaunch): Promise<boolean> {
    if (this.asking?.session === session) return this.asking.alive;
    const alive = this.ask(session, launch).finally(() => {
      if (this.asking?.session === session) this.asking = undefined;
    });
    this.asking = { session, alive };
    return alive;
  }

  private async ask(session: ProviderSession, { connectTimeoutMs }: ConnectionLaunch): Promise<boolean> {
    const { signsOfLife } = this;
    const deadline = new Deadline(connectTimeoutMs);
    try {
      await session.ping(deadline.signal);
      return true;
    } catch (error) {
      // another operation got its answer meanwhile
      if (this.signsOfLife !== signsOfLife && session.isOpen) return true;
      const reason = error instanceof SessionError ? error.reason : undefined;
      this.gone(session, reason ?? (deadline.signal.aborted ? 'connection_timeout' : 'http_error'));
      return false;
    } finally {
      deadline.end();
    }
  }
}
