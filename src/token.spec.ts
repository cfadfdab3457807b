import { createHmac, randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createToken, equalHash, hashToken, parseToken } from './token.js';

const SEED = 20_260_102;
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const KNOWN_TOKENS = [
  'wop_0123456789AB_abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG3KZe9Q',
  'wag_zyxwvutsrqpo_000000000000000000000000000000000000000016300WQRl',
];

describe('tokens', () => {
  it.each([
    ['operator', 'wop'],
    ['agent', 'wag'],
  ] as const)('an %s token has the published form and reads back', (kind, prefix) => {
    const { token, id } = createToken(kind);
    expect(token).toMatch(new RegExp(`^${prefix}_${id}_[0-9A-Za-z]{43}[0-9A-Za-z]{6}$`));
    expect(id).toMatch(/^[0-9A-Za-z]{12}$/);
    expect(parseToken(token)).toEqual({ kind, id });
  });

  it('ends in the CRC-32 of what stands before it, in base62', () => {
    // Computed elsewhere, by Python's zlib.crc32; the second one needs padding.
    for (const token of KNOWN_TOKENS) expect(parseToken(token)).toBeDefined();
  });

  it(`refuses 100,000 malformed tokens (seed ${SEED})`, () => {
    const valid = createToken('agent').token;
    const place = fc.nat(valid.length - 1);
    const malformed = fc.oneof(
      fc
        .record({ at: place, by: fc.constantFrom(...BASE62.split(''), '_', '-', ' ', 'é', '\0') })
        .map(({ at, by }) => valid.slice(0, at) + by + valid.slice(at + 1)),
      fc.record({ at: place, to: place }).map(({ at, to }) => swap(valid, at, to)),
      place.map((at) => valid.slice(0, at)),
      fc
        .record({ at: place, more: fc.string({ minLength: 1 }) })
        .map(({ at, more }) => valid.slice(0, at) + more + valid.slice(at)),
      fc.stringMatching(/^w(op|ag)_[0-9A-Za-z]{12}_[0-9A-Za-z]{49}$/),
      fc.string({ maxLength: 80 }),
      fc.constantFrom(
        ` ${valid}`,
        `${valid}\n`,
        `Bearer ${valid}`,
        valid.toUpperCase(),
        valid.replace('wag_', 'wop_'),
        '',
      ),
    );
    let refused = 0;
    fc.assert(
      fc.property(malformed, (text) => {
        if (text === valid) return;
        if (parseToken(text) !== undefined) throw new Error('accepted');
        refused += 1;
      }),
      { numRuns: 105_000, seed: SEED },
    );
    expect(refused).toBeGreaterThanOrEqual(100_000);
  });

  it('draws every character equally often', () => {
    const counts = new Map<string, number>();
    for (let round = 0; round < 2_000; round += 1) {
      for (const character of createToken('agent').token.slice(17, 60)) {
        counts.set(character, (counts.get(character) ?? 0) + 1);
      }
    }
    const expected = (2_000 * 43) / 62;
    expect(counts.size).toBe(62);
    const chiSquared = [...counts.values()].reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
    // 61 degrees of freedom: 150 is passed once in a billion runs, while a byte modulo 62 gives about 700.
    expect(chiSquared).toBeLessThan(150);
  });

  it('is kept as an HMAC that another key does not give', () => {
    const { token } = createToken('operator');
    const key = randomBytes(32);
    const hash = hashToken(token, key);
    expect(hash.toString('hex')).toBe(createHmac('sha256', key).update(token).digest('hex'));
    expect(equalHash(hash, hashToken(token, key))).toBe(true);
    expect(equalHash(hash, hashToken(token, randomBytes(32)))).toBe(false);
    expect(equalHash(hash, hash.subarray(1))).toBe(false);
  });
});

function swap(text: string, a: number, b: number): string {
  const characters = text.split('');
  [characters[a], characters[b]] = [characters[b] ?? '', characters[a] ?? ''];
  return characters.join('');
}
