const BACKSLASH = 0x5c;
const LOWER_U = 0x75;

/** What follows the backslash of a two-character JSON escape, and what it stands for. */
const SIMPLE_ESCAPES: ReadonlyMap<number, number> = new Map(
  Object.entries({ '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }).map(
    ([letter, meaning]) => [letter.charCodeAt(0), meaning.charCodeAt(0)],
  ),
);

/** An escape read, one that may go on beyond the text, or none at all. */
type Escape = { codePoint: number; length: number } | 'incomplete' | undefined;

/**
 * The JSON escape whose backslash is at `index`; a pair of escaped surrogates is one.
 * @param final false while more text may follow
 */
export function readEscape(from: Uint8Array, index: number, final: boolean): Escape {
  const letter = from[index + 1];
  if (letter === undefined) return final ? undefined : 'incomplete';
  const simple = SIMPLE_ESCAPES.get(letter);
  if (simple !== undefined) return { codePoint: simple, length: 2 };
  if (letter !== LOWER_U) return undefined;
  const unit = readHex(from, index + 2, 4, final);
  if (typeof unit !== 'number') return unit;
  if (unit < 0xd800 || unit > 0xdbff) return { codePoint: unit, length: 6 };
  const low = readLowSurrogate(from, index + 6, final);
  if (low === 'incomplete') return low;
  if (low === undefined) return { codePoint: unit, length: 6 };
  return { codePoint: 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00), length: 12 };
}

function readLowSurrogate(from: Uint8Array, index: number, final: boolean): number | 'incomplete' | undefined {
  const [backslash, letter] = [from[index], from[index + 1]];
  if (backslash === undefined) return final ? undefined : 'incomplete';
  if (backslash !== BACKSLASH) return undefined;
  if (letter === undefined) return final ? undefined : 'incomplete';
  if (letter !== LOWER_U) return undefined;
  const unit = readHex(from, index + 2, 4, final);
  return typeof unit === 'number' && (unit < 0xdc00 || unit > 0xdfff) ? undefined : unit;
}

/** The number that `digits` hex digits from `index` on stand for; `final` as above. */
export function readHex(
  from: Uint8Array,
  index: number,
  digits: number,
  final: boolean,
): number | 'incomplete' | undefined {
  let value = 0;
  for (let place = 0; place < digits; place += 1) {
    const byte = from[index + place];
    if (byte === undefined) return final ? undefined : 'incomplete';
    const digit = hexDigit(byte);
    if (digit < 0) return undefined;
    value = value * 16 + digit;
  }
  return value;
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}
