import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { canonicalJson, sha256Hex } from './canonical-json.js';

const SEED = 20_260_103;

describe('canonicalJson', () => {
  it('writes the example of RFC 8785 section 3.2.2 as section 3.2.3 shows it', () => {
    const value = JSON.parse(
      '{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],' +
        '"string":"\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/","literals":[null,true,false]}',
    );
    expect(canonicalJson(value)).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],' +
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    );
  });

  it('sorts names by UTF-16 code unit (RFC 8785 section 3.2.3)', () => {
    const names = ['\u20ac', '\r', '\ufb33', '1', '\ud83d\ude00', '\u0080', '\u00f6'];
    const written = canonicalJson(Object.fromEntries(names.map((name) => [name, 0])));
    expect(Object.keys(JSON.parse(written)).toSorted()).toEqual(names.toSorted());
    const order = [...written.matchAll(/"((?:[^"\\]|\\.)+)":/g)].map(([, name]) => name);
    expect(order).toEqual(['\\r', '1', '\u0080', '\u00f6', '\u20ac', '\ud83d\ude00', '\ufb33']);
  });

  it(`does not depend on the order of members and reads back the same (seed ${SEED})`, () => {
    const json = fc.jsonValue({ maxDepth: 6 }).map((value) => JSON.parse(JSON.stringify(value)));
    fc.assert(
      fc.property(json, (value) => {
        const text = canonicalJson(value);
        expect(canonicalJson(reversed(value))).toBe(text);
        expect(JSON.parse(text)).toEqual(value);
      }),
      { numRuns: 2_000, seed: SEED },
    );
  });

  it('leaves out undefined members and writes -0 as 0', () => {
    expect(canonicalJson({ b: undefined, a: -0, ['__proto__']: 1 })).toBe('{"__proto__":1,"a":0}');
  });

  it.each([
    ['NaN', Number.NaN],
    ['Infinity', [Number.POSITIVE_INFINITY]],
    ['a bigint', { a: 1n }],
    ['a function', { a: () => 1 }],
    ['undefined', undefined],
    ['undefined in an array', [undefined]],
    ['a date', new Date(0)],
    ['a map', new Map()],
    ['a lone surrogate', ['\ud800']],
    ['a lone surrogate in a name', { '\udfff': 1 }],
  ])('refuses %s', (_, value) => {
    expect(() => canonicalJson(value)).toThrow(TypeError);
  });

  it('writes a schema 1,500 and 15,000 levels deep, and refuses a value within itself', () => {
    for (const depth of [1_500, 15_000]) {
      let schema: unknown = {};
      for (let level = 0; level < depth; level += 1) schema = level % 2 === 0 ? [schema] : { items: schema };
      expect(canonicalJson(schema)).toMatch(/\{\}/);
    }
    const loop: Record<string, unknown> = {};
    loop['again'] = [loop, loop];
    expect(() => canonicalJson(loop)).toThrow(RangeError);
  });
});

describe('sha256Hex', () => {
  it('hashes the UTF-8 bytes', () => {
    expect(sha256Hex('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
    expect(sha256Hex('é')).toBe('4a99557e4033c3539de2eb65472017cad5f9557f7a0625a09f1c3f6e2ba69c4c');
  });
});

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  const copy = {};
  for (const [name, member] of Object.entries(value).toReversed()) {
    Object.defineProperty(copy, name, { value: reversed(member), enumerable: true });
  }
  return copy;
}
