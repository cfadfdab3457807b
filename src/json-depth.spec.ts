import { describe, expect, it } from '@jest/globals';
import { isNestedDeeper } from './json-depth.js';

const nested = (levels: number): string => '[{"a":'.repeat(levels / 2) + '1' + '}]'.repeat(levels / 2);

describe('nesting', () => {
  it('is measured exactly', () => {
    expect(isNestedDeeper(nested(200), 200)).toBe(false);
    expect(isNestedDeeper(`[${nested(200)}]`, 200)).toBe(true);
    expect(isNestedDeeper('[[],[],{},[[]]]', 2)).toBe(true);
    expect(isNestedDeeper('[[],[],{},[]]', 2)).toBe(false);
  });

  it('is not counted inside strings', () => {
    const brackets = JSON.stringify(['[[[["\\', '\\"[[[[', { '{{{{\\\\': '[[[' }]);
    expect(isNestedDeeper(brackets, 2)).toBe(false);
    expect(isNestedDeeper(`{"a\\\\":${nested(4)}}`, 4)).toBe(true);
  });

  it('takes one pass over text that is no JSON', () => {
    for (const text of ['', '"', '"\\', '\\"[', ']]]]]', '"'.repeat(4_000_000), '"\\\\'.repeat(1_000_000)]) {
      expect(isNestedDeeper(text, 3)).toBe(false);
    }
    expect(isNestedDeeper('['.repeat(4_000_000), 200)).toBe(true);
  });
});
