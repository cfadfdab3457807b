import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Buffer } from 'node:buffer';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { verifyCount } from '../test/support/verify-count.js';
import { REDACTION_MARK } from './redactor.mark.js';
import { Redactor } from './redactor.js';

/** Embeddings; a long verification, of 200 rounds, takes 200,000. */
const COUNT = verifyCount(20_000, 1_000);
const SEED = Number(process.env['WARREN_VERIFY_SEED'] ?? 20_260_101);
const MARK = REDACTION_MARK;
/** Milliseconds; a loaded machine and a raised count take far longer than the usual ten seconds. */
const PATIENCE = 120_000 + COUNT * 5;

/** Ways other programs write a value; `edge` bounds the characters beside the mark that an alignment may leave. */
interface Spelling {
  readonly name: string;
  readonly edge: number;
  readonly write: (secret: string, pick: (below: number) => number) => string;
}

const unicodeEscape = (unit: string, upper: boolean): string => {
  const hex = unit.charCodeAt(0).toString(16).padStart(4, '0');
  return `\\u${upper ? hex.toUpperCase() : hex}`;
};
const percentByte = (byte: number, upper: boolean): string => {
  const hex = byte.toString(16).padStart(2, '0');
  return `%${upper ? hex.toUpperCase() : hex}`;
};
const json = (text: string): string => JSON.stringify(text).slice(1, -1);
const base64At = (offset: number, encoding: 'base64' | 'base64url'): Spelling => ({
  name: `${encoding} +${offset}`,
  edge: 5,
  write: (secret, pick) => {
    const before = Buffer.alloc(offset, 'q');
    return Buffer.concat([before, Buffer.from(secret), Buffer.alloc(pick(4), 'z')]).toString(encoding);
  },
});

const SPELLINGS: readonly Spelling[] = [
  { name: 'plain', edge: 0, write: (secret) => secret },
  { name: 'json', edge: 0, write: json },
  { name: 'json, slashes escaped', edge: 0, write: (secret) => json(secret).replaceAll('/', '\\/') },
  {
    name: 'json, some \\u',
    edge: 0,
    write: (secret, pick) =>
      Array.from({ length: secret.length }, (_, index) => secret.charAt(index))
        // A surrogate half cannot stand beside an escaped one, so both are escaped.
        .map((unit) =>
          /[\ud800-\udfff]/.test(unit) || pick(3) === 0 ? unicodeEscape(unit, pick(2) === 0) : json(unit),
        )
        .join(''),
  },
  { name: 'json in json', edge: 0, write: (secret) => json(json(secret)) },
  { name: 'encodeURIComponent', edge: 0, write: (secret) => encodeURIComponent(secret) },
  {
    name: 'encodeURI',
    edge: 0,
    write: (secret) => (secret.includes('%') ? encodeURIComponent(secret) : encodeURI(secret)),
  },
  { name: 'form', edge: 0, write: (secret) => new URLSearchParams({ k: secret }).toString().slice(2) },
  {
    name: 'percent, lower',
    edge: 0,
    write: (secret) => encodeURIComponent(secret).replaceAll(/%../g, (escape) => escape.toLowerCase()),
  },
  {
    name: 'percent, all',
    edge: 0,
    write: (secret, pick) => [...Buffer.from(secret)].map((byte) => percentByte(byte, pick(2) === 0)).join(''),
  },
  { name: 'percent of json', edge: 0, write: (secret) => encodeURIComponent(json(secret)) },
  { name: 'json of percent', edge: 0, write: (secret) => json(encodeURIComponent(secret)) },
  { name: 'hex', edge: 0, write: (secret) => Buffer.from(secret).toString('hex') },
  { name: 'HEX', edge: 0, write: (secret) => Buffer.from(secret).toString('hex').toUpperCase() },
  ...[0, 1, 2].flatMap((offset) => [base64At(offset, 'base64'), base64At(offset, 'base64url')]),
  {
    name: 'base64, wrapped',
    edge: 5,
    write: (secret) => Buffer.from(secret).toString('base64').replaceAll(/.{20}/g, '$&\r\n'),
  },
  { name: 'base64 in percent', edge: 8, write: (secret) => encodeURIComponent(Buffer.from(secret).toString('base64')) },
];

const ALPHABETS = [
  'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789',
  '0123456789abcdef',
  'abcXYZ019 /+=%&?"\\\'<>{}[]:;,.-_~!@#$^*()|`',
  'añßΩ漢字😀🦊-éx\u007f',
];
const secretText = fc
  .record({
    alphabet: fc.constantFrom(...ALPHABETS),
    picks: fc.array(fc.nat(), { minLength: 8, maxLength: 64 }),
  })
  .map(({ alphabet, picks }) => {
    const characters = Array.from(alphabet);
    return picks.map((pick) => characters[pick % characters.length] ?? '').join('');
  });
// Ends in what no spelling reads together with the secret.
const context = fc.stringMatching(/^[A-Za-z0-9 ,.{}:"=&é漢\n]{0,60}[ ":=,{]$/);

function cutAt(text: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [0, ...cuts.map((cut) => cut % (text.length + 1)), text.length].toSorted((a, b) => a - b);
  return places.slice(1).map((end, index) => text.subarray(places[index], end));
}

describe('redaction, by property', () => {
  it(
    `masks every embedding in every form, whole and over cuts (${COUNT} embeddings, seed ${SEED})`,
    () => {
      const forms = new Map<string, number>();
      fc.assert(
        fc.property(
          fc.array(secretText, { minLength: 1, maxLength: 4 }),
          fc.nat(),
          fc.constantFrom(...SPELLINGS),
          context,
          context,
          fc.infiniteStream(fc.nat()),
          fc.array(fc.nat(), { maxLength: 6 }),
          (secrets, which, spelling, before, after, random, cuts) => {
            const secret = secrets[which % secrets.length] ?? '';
            const written = spelling.write(secret, (below) => (random.next().value ?? 0) % below);
            const behind = Array.from(after).toReversed().join('');
            const redactor = new Redactor(secrets);
            const text = before + written + behind;
            const once = redactor.text(text);

            expect(once.text.startsWith(before)).toBe(true);
            expect(once.text.endsWith(behind)).toBe(true);
            const middle = once.text.slice(before.length, once.text.length - behind.length);
            expect(middle).toContain(MARK);
            expect(middle.length - MARK.length).toBeLessThanOrEqual(spelling.edge * 2);
            expect(once.count).toBe(1);

            const stream = redactor.stream();
            const pieces = cutAt(Buffer.from(text), cuts).map((piece) => stream.push(piece));
            expect(pieces.join('') + stream.end()).toBe(once.text);
            expect(stream.count).toBe(once.count);
            forms.set(spelling.name, (forms.get(spelling.name) ?? 0) + 1);
          },
        ),
        { numRuns: COUNT, seed: SEED },
      );
      expect([...forms.keys()].toSorted()).toEqual(SPELLINGS.map(({ name }) => name).toSorted());
      process.stdout.write(
        `seed ${SEED}, embeddings masked, each whole and over cuts: ${[...forms.values()].reduce((a, b) => a + b, 0)} of ${COUNT}\n`,
      );
    },
    PATIENCE,
  );

  it(
    'gives the same text in chunks of any size, cut inside characters and escapes, as at once',
    () => {
      // Few letters and periodic secrets make overlaps, near misses and half escapes frequent.
      const secrets = [
        'abababab',
        'babababaab',
        'aa\\naa\\n',
        'a b+a b+',
        'é\\é%é/éaa',
        '%61%61%61aaaaa',
        'line one\nline two',
      ];
      const redactor = new Redactor(secrets);
      const pieces = [
        'a',
        'b',
        'ab',
        'abab',
        '\\',
        'n',
        'u',
        '\\u0061',
        '\\u006',
        '\\ud83d',
        '\\ude00',
        '%',
        '%6',
        '%61',
        '6',
        '1',
        '+',
        ' ',
        'é',
        '%C3%A9',
        '%25',
        '%5C',
        '\\\\',
        '/',
        '\n',
        '\r\n',
        'line one',
        'YWJhYmFi',
        'YWI',
        'FiYW',
        '61626162',
        '😀',
        ...secrets,
      ];
      fc.assert(
        fc.property(
          fc.array(fc.constantFrom(...pieces), { maxLength: 40 }),
          fc.array(fc.nat(), { maxLength: 12 }),
          (parts, cuts) => {
            const text = parts.join('');
            const expected = redactor.text(text);
            const bytes = redactor.stream();
            const fromBytes = cutAt(Buffer.from(text), cuts).map((piece) => bytes.push(piece));
            expect(fromBytes.join('') + bytes.end()).toBe(expected.text);
            expect(bytes.count).toBe(expected.count);

            const units = redactor.stream();
            const fromUnits = Array.from({ length: text.length }, (_, index) => units.push(text.charAt(index)));
            expect(fromUnits.join('') + units.end()).toBe(expected.text);
          },
        ),
        { numRuns: Math.max(2_000, COUNT / 10), seed: SEED },
      );
    },
    PATIENCE,
  );

  it('leaves ordinary text alone, and says how fast', () => {
    const require = createRequire(import.meta.url);
    const prose = ['typescript/lib/lib.dom.d.ts', 'typescript/README.md', 'typescript/ThirdPartyNoticeText.txt']
      .map((name) => readFileSync(require.resolve(name), 'utf8'))
      .join('');
    const megabytes = Buffer.byteLength(prose) / 1e6;
    const samples = fc.sample(secretText, { numRuns: 50, seed: SEED });
    for (const [name, text] of [
      ['prose', prose],
      ['json', JSON.stringify(prose)],
    ] as const) {
      for (const size of [1, 5, 50]) {
        const building = performance.now();
        const redactor = new Redactor(samples.slice(0, size));
        redactor.text('a text of some length');
        const built = performance.now() - building;
        const started = performance.now();
        const { count } = redactor.text(text);
        const seconds = (performance.now() - started) / 1e3;
        process.stdout.write(
          `${name}, ${size} secrets: built in ${built.toFixed(1)} ms, ${(megabytes / seconds).toFixed(0)} MB/s, ` +
            `${(count / megabytes).toFixed(2)} false positives per MB\n`,
        );
        expect(count).toBe(0);
      }
    }
  });
});
