import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { toStorableJson, toStorableText } from './storable-text.js';

const SEED = 20_260_104;

describe('toStorableText (A32)', () => {
  it('makes NUL visible and replaces lone surrogates, and nothing else', () => {
    expect(toStorableText('a\0b\0')).toBe('a␀b␀');
    expect(toStorableText('\ud800x\udc00\ud83d\ude00\ud83d')).toBe('\ufffdx\ufffd😀\ufffd');
    const rest = 'tab\t, \u0001, é, \u2028, \ufffe, literal \\u0000';
    expect(toStorableText(rest)).toBe(rest);
  });

  it(`leaves nothing PostgreSQL would refuse (seed ${SEED})`, () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.nat(0xffff).map((unit) => String.fromCharCode(unit % 3 === 0 ? unit & 0xdfff : unit)) }),
        (text) => {
          const storable = toStorableText(text);
          expect(storable).not.toMatch(/\0|\p{Surrogate}/u);
          expect(toStorableText(storable)).toBe(storable);
          expect(storable).toHaveLength(text.length);
        },
      ),
      { numRuns: 2_000, seed: SEED },
    );
  });
});

describe('toStorableJson (A32)', () => {
  it('reaches strings and member names at any depth and keeps the given value', () => {
    const given = JSON.parse('{"a\\u0000":["\\ud800",{"x":"y\\u0000"}],"n":1.5,"t":true,"z":null,"s":"fine"}');
    const before = JSON.stringify(given);
    const { value, changed } = toStorableJson(given);
    expect(changed).toBe(true);
    expect(value).toEqual({ 'a␀': ['\ufffd', { x: 'y␀' }], n: 1.5, t: true, z: null, s: 'fine' });
    expect(JSON.stringify(given)).toBe(before);
  });

  it('answers the very same value when there is nothing to replace', () => {
    const given = { a: ['fine'], ['__proto__']: 1 };
    expect(toStorableJson(given)).toEqual({ value: given, changed: false });
    expect(toStorableJson(given).value).toBe(given);
    expect(toStorableJson(7)).toEqual({ value: 7, changed: false });
  });

  it('keeps members named __proto__ and constructor as data and pollutes nothing', () => {
    const text = '{"__proto__":{"polluted":"\\u0000"},"constructor":{"prototype":{"polluted":1}},"\\u0000":"x"}';
    const { value } = toStorableJson(JSON.parse(text));
    expect(JSON.stringify(value)).toBe(
      '{"__proto__":{"polluted":"␀"},"constructor":{"prototype":{"polluted":1}},"␀":"x"}',
    );
    expect(Object.getPrototypeOf(value)).toBe(Object.getPrototypeOf({}));
    expect('polluted' in {}).toBe(false);
  });

  it('loses no member when names become equal', () => {
    const { value } = toStorableJson({ 'a\0': 1, 'a␀': 2, 'a\ufffd': 3, 'a\ud800': 4, 'a␀~2': 5 });
    expect(new Set(Object.values(value as object))).toEqual(new Set([1, 2, 3, 4, 5]));
  });

  it('takes many equal names in a time that does not grow with their square', () => {
    const names = Array.from({ length: 1 << 17 }, (_, number) =>
      number.toString(2).padStart(17, '0').replaceAll('0', '\0').replaceAll('1', '␀'),
    );
    const { value } = toStorableJson(Object.fromEntries(names.map((name) => [name, 1])));
    expect(Object.keys(value as object)).toHaveLength(names.length);
  });

  it('takes a value 50,000 levels deep and refuses one within itself', () => {
    let deep: unknown = 'x\0';
    for (let level = 0; level < 50_000; level += 1) deep = level % 2 === 0 ? [deep] : { deep };
    expect(toStorableJson(deep).changed).toBe(true);
    const loop: unknown[] = [];
    loop.push(loop, loop);
    expect(() => toStorableJson(loop)).toThrow(RangeError);
  });
});
