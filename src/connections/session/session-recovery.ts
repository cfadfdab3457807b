import { ReconnectBudget, type ReconnectTiming } from './reconnect-budget.js';
import { isPassing, type SessionError } from './session-error.js';

/** Brings a session that broke back by itself: one attempt at a time, within a budget, for as long as time may mend it. */
export class SessionRecovery {
  private budget: ReconnectBudget;
  private timer: NodeJS.Timeout | undefined;
  /** It broke, and has not been open since. */
  private isBroken = false;

  /** `attempt` never rejects; when it does not bring the session back, `failed` is to be told. */
  constructor(
    private readonly timing: ReconnectTiming,
    private readonly attempt: () => Promise<void>,
  ) {
    this.budget = new ReconnectBudget(timing);
  }

  /** Whether an attempt is to come. */
  get isDue(): boolean {
    return this.timer !== undefined;
  }

  /** The session broke at this age, milliseconds. */
  broke(ageMs: number): void {
    this.budget.broke(ageMs);
    this.isBroken = true;
    this.schedule(0);
  }

  /** It could not be opened. A session that never was open waits for a caller. */
  failed(failure: SessionError): void {
    if (this.isBroken && !this.isDue && isPassing(failure)) this.schedule(failure.retryAfterMs ?? 0);
  }

  /** It is open. */
  succeeded(): void {
    this.isBroken = false;
  }

  /** Somebody opens it now. */
  standBack(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  /** It is to stay closed; whoever opens it later has a fresh budget. */
  end(): void {
    this.isBroken = false;
    this.budget = new ReconnectBudget(this.timing);
    this.standBack();
  }

  private schedule(leastMs: number): void {
    const delay = this.budget.next();
    if (delay === undefined) return;
    this.timer = setTimeout(
      () => {
        this.timer = undefined;
        void this.attempt();
      },
      Math.max(delay, leastMs),
    ).unref();
  }
}
