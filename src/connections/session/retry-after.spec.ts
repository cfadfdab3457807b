import { describe, expect, it } from '@jest/globals';
import { readRetryAfter } from './retry-after.js';

const now = Date.parse('2026-03-01T12:00:00Z');

describe('readRetryAfter', () => {
  it.each([
    [null, undefined],
    ['', undefined],
    ['soon', undefined],
    ['0', 0],
    [' 7 ', 7_000],
    ['86400', 300_000],
    ['99999999999999999999', 300_000],
    ['Sun, 01 Mar 2026 12:00:30 GMT', 30_000],
    ['Sun, 01 Mar 2026 11:00:00 GMT', 0],
    ['Sun, 01 Mar 2037 11:00:00 GMT', 300_000],
  ])('reads %j as %j', (header, expected) => {
    expect(readRetryAfter(header, now)).toEqual(expected);
  });
});
