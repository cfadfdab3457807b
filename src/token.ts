import { Buffer } from 'node:buffer';
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';

export type TokenKind = 'operator' | 'agent';

const PREFIXES: Readonly<Record<TokenKind, string>> = { operator: 'wop_', agent: 'wag_' };
const ID_LENGTH = 12;
const RANDOM_LENGTH = 43;
const CHECKSUM_LENGTH = 6;
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const FORM = /^(wop|wag)_([0-9A-Za-z]{12})_[0-9A-Za-z]{49}$/;
const TOKEN_LENGTH = 4 + ID_LENGTH + 1 + RANDOM_LENGTH + CHECKSUM_LENGTH;

/** A new token, to be shown once, and the public id that may be stored and shown. */
export function createToken(kind: TokenKind): { token: string; id: string } {
  const id = randomBase62(ID_LENGTH);
  const body = `${PREFIXES[kind]}${id}_${randomBase62(RANDOM_LENGTH)}`;
  return { token: body + checksum(body), id };
}

/** The kind and public id of a token whose form and checksum are right; says nothing about whether it is known. */
export function parseToken(text: string): { kind: TokenKind; id: string } | undefined {
  if (text.length !== TOKEN_LENGTH) return undefined;
  const match = FORM.exec(text);
  if (match === null) return undefined;
  const [, prefix, id] = match;
  const body = text.slice(0, -CHECKSUM_LENGTH);
  if (id === undefined || checksum(body) !== text.slice(-CHECKSUM_LENGTH)) return undefined;
  return { kind: prefix === 'wop' ? 'operator' : 'agent', id };
}

/** HMAC-SHA-256 of a token, 32 bytes: what the database keeps in its place. */
export function hashToken(token: string, hmacKey: Uint8Array): Buffer {
  return createHmac('sha256', hmacKey).update(token, 'utf8').digest();
}

/** Compares two hashes in a time that does not depend on where they differ. */
export function equalHash(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

function checksum(body: string): string {
  let rest = crc32(body);
  let digits = '';
  for (let place = 0; place < CHECKSUM_LENGTH; place += 1) {
    digits = BASE62.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

function randomBase62(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      // 248 is the largest multiple of 62 in a byte; the rest would favour the first eight characters.
      if (byte < 248 && text.length < length) text += BASE62.charAt(byte % 62);
    }
  }
  return text;
}
