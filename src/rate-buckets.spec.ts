import { describe, expect, it } from '@jest/globals';
import { RateBuckets } from './rate-buckets.js';

describe('RateBuckets', () => {
  it('lets through so many at once, then as time fills up', () => {
    let now = 0;
    const buckets = new RateBuckets(3, 2, 10, () => now);
    for (let count = 0; count < 3; count += 1) {
      expect(buckets.waitMs('a')).toBe(0);
      buckets.spend('a');
    }
    expect(buckets.waitMs('a')).toBe(500);
    now = 400;
    expect(buckets.waitMs('a')).toBe(100);
    now = 500;
    expect(buckets.waitMs('a')).toBe(0);
    buckets.spend('a');
    expect(buckets.waitMs('a')).toBe(500);
  });

  it('owes nothing: what is spent beyond the bound makes nobody wait longer', () => {
    let now = 0;
    const buckets = new RateBuckets(1, 1, 10, () => now);
    for (let count = 0; count < 1_000; count += 1) buckets.spend('a');
    now = 1_000;
    expect(buckets.waitMs('a')).toBe(0);
  });

  it('never holds more than its size, however long nothing happened', () => {
    let now = 0;
    const buckets = new RateBuckets(2, 1, 10, () => now);
    buckets.spend('a');
    now = 1_000_000;
    buckets.spend('a');
    buckets.spend('a');
    expect(buckets.waitMs('a')).toBe(1_000);
  });

  it('counts each key for itself, and remembers a finite number of them', () => {
    const buckets = new RateBuckets(1, 1, 100, () => 0);
    for (let key = 0; key < 10_000; key += 1) buckets.spend(String(key));
    expect(buckets.keys).toBe(100);
    expect(buckets.waitMs('9999')).toBe(1_000);
    expect(buckets.waitMs('another')).toBe(0);
  });
});
