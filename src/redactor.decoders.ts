import { readEscape, readHex } from './redactor.escapes.js';
import type { View } from './redactor.view.js';

const BACKSLASH = 0x5c;
const PERCENT = 0x25;
const PLUS = 0x2b;
const SPACE = 0x20;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
/** Encoders break lines with one or two characters; a longer run does not stand inside one value. */
const MAX_LINE_BREAK = 2;

/** The byte that stands for each byte in hex and base64 text: lower case, base64url as base64, no `+`. */
const CODE_FOLD = Uint8Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte);
  if (/[A-Z]/.test(character)) return byte | 0x20;
  return { '-': ' ', '+': ' ', _: '/' }[character]?.charCodeAt(0) ?? byte;
});

/**
 * The text with every `+` as a space, since either may stand for the other in a query. All views are folded so, and
 * so are the patterns.
 */
export function foldPlus(bytes: Uint8Array): Uint8Array {
  if (!bytes.includes(PLUS)) return bytes;
  const folded = Uint8Array.from(bytes);
  for (let index = folded.indexOf(PLUS); index >= 0; index = folded.indexOf(PLUS, index + 1)) folded[index] = SPACE;
  return folded;
}

/**
 * The text with JSON's backslash escapes resolved; what is no escape stays as it is.
 * @param final false while more text may follow: an escape that has only begun is then left out
 */
export function decodeJsonEscapes(source: View, final: boolean): View {
  const view = source.derive();
  const from = source.bytes;
  const to = view.bytes;
  let out = 0;
  let index = 0;
  while (index < from.length) {
    const byte = from[index] ?? 0;
    const escape = byte === BACKSLASH ? readEscape(from, index, final) : undefined;
    if (escape === 'incomplete') {
      view.open = true;
      break;
    }
    if (escape === undefined) {
      to[out++] = byte;
      index += 1;
    } else {
      const width = writeUtf8(escape.codePoint, to, out);
      view.token(out, width, index, index + escape.length);
      out += width;
      index += escape.length;
    }
  }
  return view.finish(out);
}

/** The text with `%XX` resolved; `final` as above. */
export function decodePercent(source: View, final: boolean): View {
  const view = source.derive();
  const from = source.bytes;
  const to = view.bytes;
  let out = 0;
  let index = 0;
  while (index < from.length) {
    let byte = from[index] ?? 0;
    let length = 1;
    if (byte === PERCENT) {
      const value = readHex(from, index + 1, 2, final);
      if (value === 'incomplete') {
        view.open = true;
        break;
      }
      if (value !== undefined) {
        byte = value;
        length = 3;
        view.token(out, 1, index, index + length);
      }
    }
    to[out++] = byte === PLUS ? SPACE : byte;
    index += length;
  }
  return view.finish(out);
}

/** The text with line breaks taken out and its letters folded, in which hex and base64 are looked for. */
export function foldCode(source: View): View {
  const view = source.derive();
  const from = source.bytes;
  const to = view.bytes;
  let out = 0;
  let run = 0;
  for (let index = 0; index < from.length; index += 1) {
    const byte = from[index] ?? 0;
    if (byte === LINE_FEED || byte === CARRIAGE_RETURN) {
      run += 1;
      if (run <= MAX_LINE_BREAK) {
        view.token(out, 0, index, index + 1);
        continue;
      }
    } else {
      run = 0;
    }
    to[out++] = CODE_FOLD[byte] ?? byte;
  }
  return view.finish(out);
}

/** Writes a code point (a lone surrogate as U+FFFD, as Node does) and answers its width in bytes. */
function writeUtf8(codePoint: number, to: Uint8Array, at: number): number {
  const value = codePoint >= 0xd800 && codePoint <= 0xdfff ? 0xfffd : codePoint;
  if (value < 0x80) {
    to[at] = value === PLUS ? SPACE : value;
    return 1;
  }
  const continuations = value < 0x800 ? 1 : value < 0x10000 ? 2 : 3;
  const lead = [0xc0, 0xe0, 0xf0][continuations - 1] ?? 0;
  to[at] = lead | (value >> (6 * continuations));
  for (let index = 1; index <= continuations; index += 1) {
    to[at + index] = 0x80 | ((value >> (6 * (continuations - index))) & 0x3f);
  }
  return continuations + 1;
}
