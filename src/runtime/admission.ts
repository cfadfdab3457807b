import { decide } from '../grants/decision.js';
import type { CallGate } from '../connections/session/provider-session.js';
import type { AdmissionFacts, AdmissionRequest, CallsRepository, HeldAdmission } from './calls.repository.js';

/**
 * From asking PostgreSQL to the first byte, milliseconds. Half of what PostgreSQL lets an idle transaction live, so the
 * locks are still held while a write may begin, even if this process was paused in between.
 */
const ADMISSION_HOLD_MS = 2_000;
/** The locks outlast that by so much, in which a transport takes back a write that has not begun. */
const WITHDRAWAL_MS = 1_000;

/**
 * The gate of one call: permission is read again under the shared locks right before the call is written, and the locks
 * are held until it is. Not given back in time, an admission ends by itself and the call must ask anew.
 */
export class Admission implements CallGate {
  /** What the last admission found. */
  facts: AdmissionFacts | undefined;
  private held: HeldAdmission | undefined;
  private deadline = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly calls: CallsRepository,
    /** The call has a row that outlives this process. */
    private readonly intended: Promise<void>,
    private readonly request: AdmissionRequest,
    /** Turns a refusal into the error the caller reads. */
    private readonly refuse: (facts: AdmissionFacts) => Error,
    /** The launch settings the open session was made with. */
    private readonly launchRevision: number,
  ) {}

  async admit(): Promise<void> {
    await this.intended;
    const askedAt = performance.now();
    const held = await this.calls.admit(this.request);
    this.facts = held.facts;
    const stale = held.facts.launchRevision !== this.launchRevision;
    if (!held.facts.admitted || !decide(held.facts).allow || stale) {
      await held.end();
      throw this.refuse(held.facts);
    }
    this.held = held;
    this.deadline = askedAt + held.facts.waitedMs + Math.min(ADMISSION_HOLD_MS, held.facts.expiresInMs ?? Infinity);
    this.timer = setTimeout(() => this.end(), Math.max(0, this.deadline + WITHDRAWAL_MS - performance.now()));
  }

  mayWrite(): boolean {
    return this.held !== undefined && !this.held.lost() && performance.now() < this.deadline;
  }

  written(): void {
    this.end();
  }

  abandoned(): void {
    this.end();
  }

  private end(): void {
    clearTimeout(this.timer);
    const held = this.held;
    this.held = undefined;
    if (held !== undefined) void held.end();
  }
}
