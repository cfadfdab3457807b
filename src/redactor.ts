import { mapJsonStrings } from './json-strings.js';
import { MIN_SECRET_LENGTH } from './redactor.forms.js';
import { REDACTION_MARK } from './redactor.mark.js';
import { SecretSet } from './redactor.search.js';
import { RedactionStream } from './redactor.stream.js';

/** Each set is searched for by itself; beyond this many, one larger set is quicker. */
const MAX_SETS = 4;
/** A long text is taken in blocks that fit a processor's cache: twice as fast as all at once. In UTF-16 code units. */
const BLOCK_LENGTH = 65_536;

/**
 * Replaces known secrets by `[redacted]` wherever they appear: as written, JSON-escaped, URL-encoded, in base64 or
 * base64url at any alignment, in hex, and line by line when a secret has several. Overlapping ones become one mark.
 * Values under 8 characters are not looked for. Immutable.
 */
export class Redactor {
  static readonly empty = new Redactor([]);

  readonly #sets: readonly SecretSet[];

  constructor(secrets: Iterable<string>, sets: readonly SecretSet[] = []) {
    const unknown = new Set<string>();
    // A lone string is iterable too, and taken apart into characters it would mask nothing.
    for (const secret of typeof secrets === 'string' ? [secrets] : secrets) {
      const worthMasking = secret.length >= MIN_SECRET_LENGTH && !REDACTION_MARK.includes(secret);
      if (worthMasking && !sets.some((set) => set.secrets.has(secret))) unknown.add(secret);
    }
    this.#sets = joinSets(unknown.size === 0 ? sets : [...sets, new SecretSet(unknown)]);
  }

  /**
   * The text with its secrets masked, and how many marks were written. With no secret in it the very same text;
   * otherwise a lone surrogate comes back as U+FFFD.
   */
  text(input: string): { text: string; count: number } {
    if (this.#sets.length === 0 || input.length < MIN_SECRET_LENGTH) return { text: input, count: 0 };
    const stream = this.stream();
    const parts: string[] = [];
    let position = 0;
    for (; input.length - position > BLOCK_LENGTH; position += BLOCK_LENGTH) {
      parts.push(stream.push(input.slice(position, position + BLOCK_LENGTH)));
    }
    parts.push(stream.end(input.slice(position)));
    return stream.count === 0 ? { text: input, count: 0 } : { text: parts.join(''), count: stream.count };
  }

  /**
   * The same for every string and member name of a JSON value, and for a number whose digits are a secret. The given
   * value is not changed.
   */
  json(value: unknown): { value: unknown; count: number } {
    let count = 0;
    const masked = mapJsonStrings(value, (input) => {
      const result = this.text(input);
      count += result.count;
      return result.text;
    });
    return { value: masked, count };
  }

  /** For text that comes in pieces, such as a child's stderr. */
  stream(): RedactionStream {
    return new RedactionStream(this.#sets);
  }

  /** A redactor for these secrets as well; this one itself when it has them all. What is prepared already is shared. */
  with(extra: Iterable<string> | Redactor): Redactor {
    if (extra instanceof Redactor) {
      const sets = extra.#sets.filter((set) => !this.#sets.includes(set));
      if (sets.length === 0) return this;
      return this.#sets.length === 0 ? extra : new Redactor([], [...this.#sets, ...sets]);
    }
    const joined = new Redactor(extra, this.#sets);
    return joined.#sets === this.#sets ? this : joined;
  }
}

function joinSets(sets: readonly SecretSet[]): readonly SecretSet[] {
  if (sets.length <= MAX_SETS) return sets;
  return [new SecretSet(new Set(sets.flatMap((set) => [...set.secrets])))];
}
