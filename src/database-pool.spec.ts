import { describe, expect, it } from '@jest/globals';
import { parseBigint } from './database-pool.js';

describe('bigint columns', () => {
  it.each([
    ['0', 0],
    ['-42', -42],
    ['9007199254740991', Number.MAX_SAFE_INTEGER],
    ['9007199254740992', '9007199254740992'],
    ['-9223372036854775808', '-9223372036854775808'],
  ])('reads %s as %p', (text, expected) => {
    expect(parseBigint(text)).toBe(expected);
  });
});
