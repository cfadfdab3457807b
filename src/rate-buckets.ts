import { LRUCache } from 'lru-cache';

interface Bucket {
  /** What may still be spent at `at`. */
  left: number;
  /** On the monotonic clock, milliseconds. */
  at: number;
}

/**
 * A bound on how often something may happen for each key: so much at once, and then as much again as time fills up.
 * Knows the keys seen last only, so that its memory is finite; one that is forgotten starts full.
 */
export class RateBuckets {
  private readonly buckets: LRUCache<string, Bucket>;

  constructor(
    private readonly size: number,
    private readonly perSecond: number,
    mostKeys: number,
    private readonly now: () => number = () => performance.now(),
  ) {
    this.buckets = new LRUCache({ max: mostKeys });
  }

  /** How many keys are remembered. */
  get keys(): number {
    return this.buckets.size;
  }

  /** Milliseconds until this key may spend one; 0 when it may now. Spends nothing. */
  waitMs(key: string): number {
    const left = this.left(key);
    return left >= 1 ? 0 : Math.ceil(((1 - left) / this.perSecond) * 1_000);
  }

  /** Spends one, or what is left of it. */
  spend(key: string): void {
    this.buckets.set(key, { left: Math.max(0, this.left(key) - 1), at: this.now() });
  }

  private left(key: string): number {
    const bucket = this.buckets.get(key);
    if (bucket === undefined) return this.size;
    return Math.min(this.size, bucket.left + ((this.now() - bucket.at) / 1_000) * this.perSecond);
  }
}
