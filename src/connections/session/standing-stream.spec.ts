import { describe, expect, it } from '@jest/globals';
import { StandingStream } from './standing-stream.js';

/** A clock of its own, and what a stream that lives so long is worth. */
function stream() {
  let now = 0;
  const standing = new StandingStream(() => now);
  return {
    standing,
    lives: (milliseconds: number, askedMs = 1_000, says = false): number | undefined => {
      standing.opened();
      if (says) standing.heard();
      now += milliseconds;
      return standing.pauseAfter(askedMs);
    },
  };
}

describe('StandingStream', () => {
  it('waits longer and longer for one that ends at once, then gives it up', () => {
    const { lives } = stream();
    const pauses = Array.from({ length: 12 }, () => lives(20));
    expect(pauses.slice(0, 8)).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
    expect(pauses.slice(8)).toEqual([60_000, 60_000, undefined, undefined]);
  });

  it('gives up one that cannot be opened', () => {
    const { standing } = stream();
    const pauses = Array.from({ length: 11 }, () => standing.pauseAfter(1_000));
    expect([pauses[0], pauses[10]]).toEqual([1_000, undefined]);
  });

  it('never gives up one that lasts, though nothing is said on it, and opens it again soon', () => {
    const { lives } = stream();
    for (let time = 0; time < 5; time += 1) lives(20);
    for (let time = 0; time < 100; time += 1) expect(lives(60_000)).toBe(1_000);
  });

  it('never gives up one on which something was said, but lets it wait', () => {
    const { lives } = stream();
    lives(20, 1_000, true);
    for (let time = 0; time < 30; time += 1) lives(20);
    expect(lives(20)).toBe(60_000);
  });

  it('does as the provider asks, within bounds', () => {
    const { lives } = stream();
    expect(lives(60_000, 0)).toBe(1_000);
    expect(lives(60_000, 5_000)).toBe(5_000);
    expect(lives(60_000, 1e12)).toBe(60_000);
  });
});
