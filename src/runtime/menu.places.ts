import { Inject, Injectable } from '@nestjs/common';
import type { Settings } from '../config.js';
import { RateBounds } from '../rate-bounds.js';
import { SETTINGS } from '../settings.token.js';
import { CallFailure } from './call-failure.js';

/** Menu calls open at once in this process, whoever makes them; what each holds is some ten kilobytes. */
const MOST_CALLS = 10_000;
/** When a caller may try again, milliseconds; most calls take less. */
const RETRY_AFTER_MS = 1_000;

/** The places for menu calls that are open at once: so many for each agent, whichever way they come, and so many in all. */
@Injectable()
export class MenuPlaces {
  private readonly taken = new Map<string, number>();
  private open = 0;

  constructor(
    @Inject(SETTINGS) private readonly settings: Settings,
    private readonly rates: RateBounds,
  ) {}

  /** Takes a place; the answer gives it back, once. Errors: `CallFailure` `rate_limited` or `busy`. */
  take(agentId: string): () => void {
    const taken = this.taken.get(agentId) ?? 0;
    if (taken >= this.settings.WARREN_RATE_AGENT_CALLS) {
      this.rates.count('agent_calls');
      throw refusal('rate_limited', 'Too many calls of this agent are open at once.');
    }
    if (this.open >= MOST_CALLS) throw refusal('busy', 'Too many calls are open at once.');
    this.open += 1;
    this.taken.set(agentId, taken + 1);
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      this.giveBack(agentId);
    };
  }

  private giveBack(agentId: string): void {
    this.open -= 1;
    const left = (this.taken.get(agentId) ?? 1) - 1;
    if (left === 0) this.taken.delete(agentId);
    else this.taken.set(agentId, left);
  }
}

function refusal(code: 'rate_limited' | 'busy', message: string): CallFailure {
  return new CallFailure(code, message, {
    retryAfterMs: RETRY_AFTER_MS,
    hint: 'Wait for earlier calls to finish, then repeat this one.',
  });
}
