import { describe, expect, it } from '@jest/globals';
import { measureJson } from './json-measure.js';

describe('measureJson', () => {
  it.each([
    [null, 0],
    ['é\n"\u2028', 0],
    [12.5, 0],
    [[], 1],
    [{}, 1],
    [{ a: [1, { b: 'x' }, []], ö: true }, 3],
  ])('agrees with the JSON text of %j', (value, depth) => {
    expect(measureJson(value)).toEqual({ bytes: Buffer.byteLength(JSON.stringify(value)), depth });
  });

  it('measures nesting that would overflow a recursive walk', () => {
    let value: unknown = 1;
    for (let level = 0; level < 200_000; level += 1) value = [value];
    expect(measureJson(value)).toEqual({ bytes: 400_001, depth: 200_000 });
  });
});
