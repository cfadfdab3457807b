/** Numbers kept for one token: where it starts in the view, its width there, where it starts and ends in the parent. */
const STRIDE = 4;

/**
 * Text as a reader downstream would see it (unescaped, say), with the way back to the bytes it came from. A token
 * is a stretch that decoding changed the length of; everything between tokens is byte for byte the parent's.
 */
export class View {
  /** The most the view can hold; the unused end is cut off by `finish`. */
  bytes: Uint8Array;
  /** True when the parent ends within a token, which is then left out: what it is depends on how the text goes on. */
  open = false;
  #tokens = new Int32Array(0);
  #used = 0;

  private constructor(
    bytes: Uint8Array,
    private readonly parent: View | undefined,
  ) {
    this.bytes = bytes;
  }

  /** The original text itself. */
  static of(bytes: Uint8Array): View {
    return new View(bytes, undefined);
  }

  /** An empty view to be filled from this one by a decoder. */
  derive(): View {
    return new View(new Uint8Array(this.bytes.length), this);
  }

  /** Notes that `from`..`to` of the parent became `width` bytes at `at`. Tokens are noted in order. */
  token(at: number, width: number, from: number, to: number): void {
    if (this.#used === this.#tokens.length) this.#grow();
    this.#tokens[this.#used] = at;
    this.#tokens[this.#used + 1] = width;
    this.#tokens[this.#used + 2] = from;
    this.#tokens[this.#used + 3] = to;
    this.#used += STRIDE;
  }

  finish(length: number): this {
    this.bytes = this.bytes.subarray(0, length);
    return this;
  }

  /** Whether anything at all reads differently from the parent, or may once more text comes. */
  get differs(): boolean {
    return this.#used > 0 || this.open;
  }

  /** The original position of the byte at `position`, or of the start of the token it belongs to. */
  start(position: number): number {
    if (this.parent === undefined) return position;
    const token = this.#last(0, position);
    if (token < 0) return this.parent.start(position);
    const past = position - this.#value(token, 0) - this.#value(token, 1);
    return this.parent.start(past < 0 ? this.#value(token, 2) : this.#value(token, 3) + past);
  }

  /** The original position just behind the byte before `position`, or behind the token that byte belongs to. */
  end(position: number): number {
    if (this.parent === undefined) return position;
    const token = this.#last(0, position - 1);
    if (token < 0) return this.parent.end(position);
    const past = position - this.#value(token, 0) - this.#value(token, 1);
    return this.parent.end(this.#value(token, 3) + Math.max(past, 0));
  }

  /** The original position, moved down where it would cut a token in two. */
  floor(original: number): number {
    if (this.parent === undefined) return original;
    const whole = this.parent.floor(original);
    const inParent = this.parent.#fromOriginal(whole);
    const token = this.#last(2, inParent - 1);
    return token >= 0 && inParent < this.#value(token, 3) ? this.parent.start(this.#value(token, 2)) : whole;
  }

  #fromOriginal(original: number): number {
    if (this.parent === undefined) return original;
    const inParent = this.parent.#fromOriginal(original);
    const token = this.#last(3, inParent);
    return token < 0 ? inParent : this.#value(token, 0) + this.#value(token, 1) + inParent - this.#value(token, 3);
  }

  /** The last token whose number at `offset` is at most `limit`, or a negative number. */
  #last(offset: number, limit: number): number {
    let low = 0;
    let high = this.#used / STRIDE;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#value(middle * STRIDE, offset) <= limit) low = middle + 1;
      else high = middle;
    }
    return (low - 1) * STRIDE;
  }

  #grow(): void {
    const larger = new Int32Array(Math.max(16 * STRIDE, this.#tokens.length * 2));
    larger.set(this.#tokens);
    this.#tokens = larger;
  }

  #value(token: number, offset: number): number {
    return this.#tokens[token + offset] ?? 0;
  }
}
