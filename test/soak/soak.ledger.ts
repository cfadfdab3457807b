import { MAX_CALLS } from './arrivals.mjs';
import type { FaultWindow } from './soak.windows.js';
import { numberOf, type Outcome } from './soak.outcome.js';
import type { FaultWindows } from './soak.windows.js';

/** What became of a call, and so how often it may have arrived. */
const FATES = { never: 0, answered: 1, sentNo: 2, sentMaybe: 3, sentYes: 4 } as const;
/** More than this is told as a number only. */
const MOST_TOLD = 20;

/** What the arrivals say about the answers. */
export interface ArrivalVerdict {
  sentTwice: number;
  /** Answered as run, yet no provider saw it. */
  answeredUnseen: number;
  /** Answered as never sent, yet a provider saw it. */
  seenUnsent: number;
}

/** Every call of the soak: hands out its number, judges its answer. One byte a call. */
export class Ledger {
  answered = 0;
  /** Failed answers by code, of calls of the load. */
  readonly refusals = new Map<string, number>();
  wrongReplies = 0;
  unforeseen = 0;
  /** Of the two above, the first ones in words. */
  readonly told: string[] = [];
  private readonly fates = new Uint8Array(MAX_CALLS);
  private next = 1;

  constructor(private readonly windows: FaultWindows) {}

  get begun(): number {
    return this.next - 1;
  }

  /** A number that no other call has. Errors: when there are no more. */
  number(): number {
    if (this.next >= MAX_CALLS) throw new Error(`the soak has numbers for ${MAX_CALLS} calls only`);
    return this.next++;
  }

  /** Notes how a call ended. A fault judges the code of its own calls itself. */
  note(number: number, outcome: Outcome): void {
    this.fates[number] = fateOf(outcome);
    if (outcome.kind !== 'answered' || numberOf(outcome.text) === number) return;
    this.wrongReplies += 1;
    this.tell(`call ${number} was given the reply "${outcome.text.slice(0, 40)}"`);
  }

  /** The same for a call of the load, whose failure must be foreseen by a fault that went on at the time. */
  noteLoad(number: number, provider: string, began: number, outcome: Outcome): void {
    this.note(number, outcome);
    if (outcome.kind === 'answered') this.answered += 1;
    if (outcome.kind !== 'refused') return;
    this.refusals.set(outcome.code, (this.refusals.get(outcome.code) ?? 0) + 1);
    const open = this.windows.overlapping(provider, began);
    if (open.some(({ codes }) => codes.includes(outcome.code))) return;
    this.unforeseen += 1;
    this.tell(`call ${number} of ${provider} (${during(open)}): ${outcome.code}, ${outcome.message}`);
  }

  /** Errors: none of Warren's; a caller that fails altogether is told as an answer that is not foreseen. */
  noteBroken(number: number, provider: string, began: number, error: unknown): void {
    this.fates[number] = FATES.sentMaybe;
    this.unforeseen += 1;
    const open = this.windows.overlapping(provider, began);
    this.tell(`call ${number} of ${provider} (${during(open)}) had no answer: ${String(error)}`);
  }

  compare(arrivals: Uint8Array): ArrivalVerdict {
    const verdict: ArrivalVerdict = { sentTwice: 0, answeredUnseen: 0, seenUnsent: 0 };
    this.fates.forEach((fate, number) => {
      const seen = arrivals[number] ?? 0;
      if (seen > 1) verdict.sentTwice += 1;
      if (seen === 0 && (fate === FATES.answered || fate === FATES.sentYes)) verdict.answeredUnseen += 1;
      if (seen > 0 && (fate === FATES.sentNo || fate === FATES.never)) verdict.seenUnsent += 1;
    });
    return verdict;
  }

  private tell(what: string): void {
    if (this.told.length < MOST_TOLD) this.told.push(what);
  }
}

function fateOf(outcome: Outcome): number {
  if (outcome.kind === 'answered') return FATES.answered;
  if (outcome.kind === 'left') return FATES.sentMaybe;
  return { no: FATES.sentNo, maybe: FATES.sentMaybe, yes: FATES.sentYes }[outcome.sent];
}

function during(windows: readonly FaultWindow[]): string {
  return windows.length === 0 ? 'no fault' : windows.map(({ fault }) => fault).join(', ');
}
