import { describe, expect, it } from '@jest/globals';
import { isNewsOfEra, isTrustedEra } from './learned-era.js';

const HOUR = 3_600_000;
const now = Date.parse('2026-05-02T00:00:00.000Z');
const legacy = { era: 'legacy' as const, learnedAt: '2026-05-01T00:00:00.000Z' };

describe('a learned era', () => {
  it('is trusted for a day', () => {
    expect(isTrustedEra(legacy, now - HOUR)).toBe(true);
    expect(isTrustedEra(legacy, now)).toBe(false);
    expect(isTrustedEra(null, now)).toBe(false);
  });

  it('is noted again before its day is over, or when it proves wrong', () => {
    expect(isNewsOfEra(legacy, 'legacy', now - 13 * HOUR)).toBe(false);
    expect(isNewsOfEra(legacy, 'legacy', now - 12 * HOUR)).toBe(true);
    expect(isNewsOfEra(legacy, 'modern', now - 24 * HOUR)).toBe(true);
    expect(isNewsOfEra(null, 'legacy', now)).toBe(true);
  });
});
