import { Buffer } from 'node:buffer';
import { StringDecoder } from 'node:string_decoder';
import { MIN_SECRET_LENGTH } from './redactor.forms.js';
import { REDACTION_MARK } from './redactor.mark.js';
import { findSecrets, type SecretSet } from './redactor.search.js';

const LAST_IS_HIGH_SURROGATE = /[\ud800-\udbff]$/;

/**
 * Redacts text that comes in pieces, cut anywhere: within a secret, an escape or a character. What could still be
 * the beginning of a secret in some form is held back (nothing or a few characters, as a rule) until more comes or
 * `end` is called; everything else passes at once.
 */
export class RedactionStream {
  #pending: Uint8Array = new Uint8Array(0);
  /** How many of the pending bytes belong to a secret that is already marked. */
  #covered = 0;
  #highSurrogate = '';
  #count = 0;
  readonly #decoder = new StringDecoder('utf8');

  constructor(private readonly sets: readonly SecretSet[]) {}

  /** How many marks have been written so far. */
  get count(): number {
    return this.#count;
  }

  /** @returns as much text as is settled, perhaps none */
  push(chunk: string | Uint8Array): string {
    return this.#advance(this.#toBytes(chunk), false);
  }

  /**
   * @param last a last piece, if there is one
   * @returns the rest; the stream may then be used for a new text
   */
  end(last: string | Uint8Array = ''): string {
    const bytes = Buffer.concat([this.#toBytes(last), Buffer.from(this.#highSurrogate, 'utf8')]);
    this.#highSurrogate = '';
    const text = this.#advance(bytes, true) + this.#decoder.end();
    this.#pending = new Uint8Array(0);
    this.#covered = 0;
    return text;
  }

  /**
   * Ends a text that may have been cut off, such as the last words of a process that was killed: what is held back and
   * long enough to be most of a secret becomes a mark.
   */
  endCut(): string {
    if (this.#pending.length - this.#covered < MIN_SECRET_LENGTH) return this.end();
    const mark = this.#mark();
    this.#pending = new Uint8Array(0);
    this.#covered = 0;
    this.#highSurrogate = '';
    return mark;
  }

  /** What is held back right now, as far as it is too short to tell anything of a secret. Changes nothing. */
  get shortRest(): string {
    if (this.#covered > 0 || this.#pending.length >= MIN_SECRET_LENGTH) return '';
    const rest = Buffer.from(this.#pending).toString('utf8');
    return rest.includes('\ufffd') ? '' : rest;
  }

  #toBytes(chunk: string | Uint8Array): Uint8Array {
    if (typeof chunk !== 'string') return chunk;
    const text = this.#highSurrogate + chunk;
    this.#highSurrogate = LAST_IS_HIGH_SURROGATE.exec(text)?.[0] ?? '';
    return Buffer.from(this.#highSurrogate === '' ? text : text.slice(0, -1), 'utf8');
  }

  #advance(chunk: Uint8Array, final: boolean): string {
    const bytes = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    const { hits, settled } = findSecrets(bytes, this.sets, final);

    let text = '';
    let position = 0;
    let covered = this.#covered;
    for (const { start, end } of hits) {
      if (start >= settled) break;
      if (start >= covered) {
        text += this.#decode(bytes, Math.max(position, covered), start) + this.#mark();
      }
      covered = Math.max(covered, end);
      position = covered;
    }
    text += this.#decode(bytes, Math.max(position, covered), settled);
    this.#covered = Math.max(0, covered - settled);
    // A copy, so that a few bytes held back do not keep a whole chunk in memory.
    this.#pending = Uint8Array.from(bytes.subarray(settled));
    return text;
  }

  #decode(bytes: Uint8Array, start: number, end: number): string {
    return start < end ? this.#decoder.write(bytes.subarray(start, end)) : '';
  }

  #mark(): string {
    this.#count += 1;
    return this.#decoder.end() + REDACTION_MARK;
  }
}
