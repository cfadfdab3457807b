/** Every pattern is at least this long, which is what lets a search step over several bytes at once. */
export const MIN_PATTERN_BYTES = 8;

const ROOT = 0;
/** A pair of bytes starts at one of seven places in a window; seeing a foreign pair at its end skips them all. */
const MAX_SKIP = MIN_PATTERN_BYTES - 1;

/**
 * Finds every occurrence of many patterns in time linear in the text. Most of a text is stepped over by looking
 * at the last two bytes of each window of eight; where a pattern may begin, an Aho-Corasick automaton takes over
 * until it is back at its root. The automaton's edges are lists in compact arrays: a node nearly always has one child.
 */
export class PatternMatcher {
  readonly #byte: Uint8Array;
  readonly #child: Int32Array;
  readonly #sibling: Int32Array;
  readonly #fallback: Int32Array;
  readonly #depth: Int32Array;
  /** Length of the longest pattern that ends at a node, or 0. */
  readonly #match: Int32Array;
  readonly #rootChild = new Int32Array(256);
  readonly #skip: Uint8Array;
  readonly #begins: Uint8Array;
  readonly #mask: number;
  #nodes = 1;

  /** @param patterns each of at least 8 bytes */
  constructor(patterns: readonly Uint8Array[]) {
    const capacity = 1 + patterns.reduce((sum, pattern) => sum + pattern.length, 0);
    this.#byte = new Uint8Array(capacity);
    this.#child = new Int32Array(capacity);
    this.#sibling = new Int32Array(capacity);
    this.#fallback = new Int32Array(capacity);
    this.#depth = new Int32Array(capacity);
    this.#match = new Int32Array(capacity);
    // Room for the pairs of all patterns without their filling the table, which would end the skipping.
    const size = 2 ** Math.min(16, Math.max(11, Math.ceil(Math.log2(patterns.length * MAX_SKIP * 8 + 1))));
    this.#mask = size - 1;
    this.#skip = new Uint8Array(size).fill(MAX_SKIP);
    this.#begins = new Uint8Array(size);
    for (const pattern of patterns) this.#insert(pattern);
    this.#link();
  }

  /**
   * Reports the longest occurrence ending at each place where one ends, in order of their ends.
   * @returns where the last occurrence that more text could still complete begins; the text's length if there is none
   */
  scan(text: Uint8Array, report: (start: number, end: number) => void): number {
    let node = ROOT;
    let index = this.#nextCandidate(text, 0);
    while (index < text.length) {
      node = this.#step(node, text[index] ?? 0);
      index += 1;
      const length = this.#match[node] ?? 0;
      if (length > 0) report(index - length, index);
      if (node === ROOT) index = this.#nextCandidate(text, index);
    }
    return text.length - (this.#depth[node] ?? 0);
  }

  /** The next place where a pattern may begin; near the end, where no window fits, simply the place given. */
  #nextCandidate(text: Uint8Array, from: number): number {
    const skip = this.#skip;
    const mask = this.#mask;
    const last = text.length - MIN_PATTERN_BYTES;
    let start = from;
    while (start <= last) {
      const step = skip[pair(text[start + 6] ?? 0, text[start + 7] ?? 0) & mask] ?? 0;
      if (step > 0) {
        start += step;
      } else {
        if (this.#begins[beginning(text, start) & mask] === 1) return start;
        start += 1;
      }
    }
    return start;
  }

  #step(from: number, byte: number): number {
    let node = from;
    while (node !== ROOT) {
      const next = this.#find(node, byte);
      if (next !== 0) return next;
      node = this.#fallback[node] ?? ROOT;
    }
    return this.#rootChild[byte] ?? ROOT;
  }

  #find(node: number, byte: number): number {
    let child = this.#child[node] ?? 0;
    while (child !== 0 && this.#byte[child] !== byte) child = this.#sibling[child] ?? 0;
    return child;
  }

  #insert(pattern: Uint8Array): void {
    let node = ROOT;
    for (const byte of pattern) {
      const known = node === ROOT ? (this.#rootChild[byte] ?? 0) : this.#find(node, byte);
      node = known === 0 ? this.#addNode(node, byte) : known;
    }
    this.#match[node] = pattern.length;

    this.#begins[beginning(pattern, 0) & this.#mask] = 1;
    for (let index = 0; index < MAX_SKIP; index += 1) {
      const slot = pair(pattern[index] ?? 0, pattern[index + 1] ?? 0) & this.#mask;
      this.#skip[slot] = Math.min(this.#skip[slot] ?? 0, MAX_SKIP - 1 - index);
    }
  }

  #addNode(parent: number, byte: number): number {
    const node = this.#nodes++;
    this.#byte[node] = byte;
    this.#depth[node] = (this.#depth[parent] ?? 0) + 1;
    if (parent === ROOT) {
      this.#rootChild[byte] = node;
    } else {
      this.#sibling[node] = this.#child[parent] ?? 0;
      this.#child[parent] = node;
    }
    return node;
  }

  /** Gives each node its fallback, the longest proper suffix that is also a beginning: level by level. */
  #link(): void {
    const queue = [...this.#rootChild].filter((node) => node !== ROOT);
    for (const node of queue) {
      for (let child = this.#child[node] ?? 0; child !== 0; child = this.#sibling[child] ?? 0) {
        const fallback = this.#step(this.#fallback[node] ?? ROOT, this.#byte[child] ?? 0);
        this.#fallback[child] = fallback;
        if (this.#match[child] === 0) this.#match[child] = this.#match[fallback] ?? 0;
        queue.push(child);
      }
    }
  }
}

function pair(first: number, second: number): number {
  const both = (first << 8) | second;
  return both ^ (both >>> 6);
}

function beginning(text: Uint8Array, at: number): number {
  const first = pair(text[at] ?? 0, text[at + 1] ?? 0);
  const second = pair(text[at + 2] ?? 0, text[at + 3] ?? 0);
  return first ^ (second << 3) ^ (second >>> 9);
}
