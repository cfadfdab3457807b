import { Buffer } from 'node:buffer';
import { decodeJsonEscapes, decodePercent, foldCode, foldPlus } from './redactor.decoders.js';
import { View } from './redactor.view.js';

/** A shorter value cannot be told from ordinary text, so it is not masked. In UTF-16 code units. */
export const MIN_SECRET_LENGTH = 8;

/** A line of a secret is worth masking alone from the same length on. */
const MIN_LINE_LENGTH = MIN_SECRET_LENGTH;

/** What to look for, in UTF-8. Escaped and percent-encoded spellings are met by decoding the text instead. */
export interface SecretForms {
  /** As written, and line by line; with every `+` as a space. */
  readonly plain: Uint8Array[];
  /** Hex and base64, folded as `foldCode` folds the text. */
  readonly codes: Uint8Array[];
}

export function secretForms(secrets: Iterable<string>): SecretForms {
  const plain = new Set<string>();
  for (const secret of secrets) {
    for (const spelling of [secret, ...decodedSpellings(secret), ...withoutEdges(secret)]) {
      for (const part of [spelling, ...longLines(spelling)]) plain.add(part);
    }
  }
  const codes = new Set<string>();
  for (const part of plain) {
    for (const spelling of [part, ...encodedSpellings(part)]) {
      for (const code of codesOf(Buffer.from(spelling, 'utf8'))) codes.add(code);
    }
  }
  return {
    plain: [...plain].map((part) => foldPlus(Buffer.from(part, 'utf8'))),
    codes: [...codes].map((code) => foldCode(View.of(Buffer.from(code, 'latin1'))).bytes),
  };
}

/** A saved `a%2Fb` or a PEM key saved with `\n` for its line breaks may come back decoded. */
function decodedSpellings(secret: string): string[] {
  const whole = View.of(Buffer.from(secret, 'utf8'));
  return [decodeJsonEscapes(whole, true), decodePercent(whole, true)]
    .map((view) => Buffer.from(view.bytes).toString('utf8'))
    .filter((spelling) => spelling !== secret && spelling.length >= MIN_SECRET_LENGTH);
}

/** Whoever reads a saved value often drops the blanks at its edges, and knows the rest as the secret. */
function withoutEdges(secret: string): string[] {
  const bare = secret.trim();
  return bare !== secret && bare.length >= MIN_SECRET_LENGTH ? [bare] : [];
}

/** What base64 of a whole JSON document or query string holds in place of the secret. */
function encodedSpellings(part: string): string[] {
  const inJson = JSON.stringify(part).slice(1, -1);
  const inQuery = encodeURIComponent(part.replaceAll(/\p{Surrogate}/gu, '\ufffd'));
  return [inJson, inQuery].filter((spelling) => spelling !== part);
}

function longLines(text: string): string[] {
  if (!/[\r\n]/.test(text)) return [];
  return text
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter((line) => line.length >= MIN_LINE_LENGTH);
}

function codesOf(bytes: Buffer): string[] {
  return [bytes.toString('hex'), ...[0, 1, 2].map((offset) => base64Core(bytes, offset))];
}

/**
 * The base64 characters that depend on these bytes alone when they start `offset` bytes into a group of three:
 * the same whatever stands before and after them.
 */
function base64Core(bytes: Buffer, offset: number): string {
  const padded = Buffer.concat([Buffer.alloc(offset), bytes]);
  const firstWhole = Math.ceil((offset * 8) / 6);
  const afterLastWhole = Math.floor((padded.length * 8) / 6);
  return padded.toString('base64').slice(firstWhole, afterLastWhole);
}
