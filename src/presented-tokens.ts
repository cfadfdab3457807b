import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Redactor } from './redactor.js';

/** Of all tokens together: a JWT may be a hundred times as long as a token of Warren's own. */
const MOST_CHARACTERS = 1_000_000;

/** Tokens seen lately, each with what masks it, so that it is prepared once and not at each request. */
@Injectable()
export class PresentedTokens {
  private readonly redactors = new LRUCache<string, Redactor>({
    max: 1_000,
    maxSize: MOST_CHARACTERS,
    sizeCalculation: (_redactor, token) => token.length,
  });

  redactorOf(token: string): Redactor {
    const known = this.redactors.get(token);
    if (known !== undefined) return known;
    // without its signature, the last part of a JWT, the rest of it opens nothing
    const redactor = new Redactor([token, token.slice(token.lastIndexOf('.') + 1)]);
    this.redactors.set(token, redactor);
    return redactor;
  }
}
