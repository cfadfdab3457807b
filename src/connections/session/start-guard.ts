import { untilAborted } from '../../deadline.js';
import { abortError } from './provider-session.js';
import { SessionError } from './session-error.js';

/** So many failed starts in a row, one after the other, and the connection rests. */
const FAILURES_BEFORE_REST = 5;
/** A rest, milliseconds; each failed probe after it doubles the next. */
const REST = { first: 10_000, most: 120_000 };
/** While somebody else probes, others may ask again after this, milliseconds. */
const PROBE_MS = 1_000;

export interface Starter {
  signal: AbortSignal;
  /** An operator's start: it is tried even while the connection rests. */
  insists: boolean;
}

type Verdict = 'started' | 'undecided' | SessionError;

/**
 * Decides whether a connection's provider may be started now. While it is not known to be well, one caller tries and the
 * others share what it learns; after repeated failures, or when the provider asks for a pause, everyone is answered at
 * once until the rest is over and one probe succeeds.
 */
export class StartGuard {
  /** Of the first failure in a row, RFC 3339. */
  failingSince = '';
  private failures = 0;
  private failure: SessionError | undefined;
  private restsUntil = -Infinity;
  private well = false;
  private trial: Promise<Verdict> | undefined;

  /** `now` in milliseconds, monotonic. */
  constructor(private readonly now: () => number = () => performance.now()) {}

  /** What a caller is answered while the connection rests; undefined when it may try. */
  get refusal(): SessionError | undefined {
    if (this.failure === undefined) return undefined;
    const probing = this.failures >= FAILURES_BEFORE_REST && this.trial !== undefined;
    const left = Math.ceil(this.restsUntil - this.now());
    if (left <= 0 && !probing) return undefined;
    const retryAfterMs = Math.max(left, PROBE_MS);
    const again = `It is tried again after ${retryAfterMs} ms.`;
    return new SessionError('unreachable', `${this.failure.message} ${again}`, {
      brief: `${this.failure.brief} ${again}`,
      reason: this.failure.reason ?? 'unknown',
      retryAfterMs,
      cause: this.failure,
    });
  }

  /** Runs a start. Errors: what it throws, what the caller before threw, or the refusal; the signal's end. */
  async run<T>(start: () => Promise<T>, { signal, insists }: Starter): Promise<T> {
    for (;;) {
      if (this.well) return this.attempt(start);
      const refusal = insists ? undefined : this.refusal;
      if (refusal !== undefined) throw refusal;
      if (this.trial === undefined) return this.lead(start);
      const verdict = await untilAborted(this.trial, signal).catch(() => {
        throw abortError(signal, 'no');
      });
      if (verdict instanceof SessionError) throw verdict;
    }
  }

  /** A session broke: the next start is tried by one caller alone. */
  suspect(): void {
    this.well = false;
  }

  private async lead<T>(start: () => Promise<T>): Promise<T> {
    let decide = (_: Verdict): void => undefined;
    this.trial = new Promise((resolve) => {
      decide = resolve;
    });
    try {
      const started = await this.attempt(start);
      decide('started');
      return started;
    } catch (error) {
      decide(isFailure(error) ? error : 'undecided');
      throw error;
    } finally {
      this.trial = undefined;
    }
  }

  private async attempt<T>(start: () => Promise<T>): Promise<T> {
    const { failures } = this;
    try {
      const started = await start();
      this.failures = 0;
      this.failure = undefined;
      this.restsUntil = -Infinity;
      this.well = true;
      return started;
    } catch (error) {
      if (isFailure(error)) this.note(error, failures);
      throw error;
    }
  }

  /** Starts that ran side by side fail of one cause: they count once. */
  private note(failure: SessionError, failuresBefore: number): void {
    this.well = false;
    this.failure = failure;
    if (this.failures === 0) this.failingSince = new Date().toISOString();
    if (this.failures === failuresBefore) this.failures += 1;
    const beyond = this.failures - FAILURES_BEFORE_REST;
    const rest = beyond < 0 ? 0 : Math.min(REST.first * 2 ** beyond, REST.most);
    this.restsUntil = Math.max(this.restsUntil, this.now() + Math.max(rest, failure.retryAfterMs ?? 0));
  }
}

/** Bounds of this server and callers that leave say nothing about the provider. */
function isFailure(error: unknown): error is SessionError {
  return error instanceof SessionError && error.kind === 'unreachable';
}
