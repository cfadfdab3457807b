import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Redactor } from './redactor.js';

/** Tokens seen lately, each with what masks it, so that it is prepared once and not at each request. */
@Injectable()
export class PresentedTokens {
  private readonly redactors = new LRUCache<string, Redactor>({ max: 1_000 });

  redactorOf(token: string): Redactor {
    const known = this.redactors.get(token);
    if (known !== undefined) return known;
    const redactor = new Redactor([token]);
    this.redactors.set(token, redactor);
    return redactor;
  }
}
