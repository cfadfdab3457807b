import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { SpacedRuns } from './spaced-runs.js';

/** Runs that last 1 s and answer as told. */
function observed(answer: () => boolean | undefined) {
  const starts: number[] = [];
  let running = 0;
  let most = 0;
  const runs = new SpacedRuns(
    async () => {
      starts.push(performance.now());
      most = Math.max(most, (running += 1));
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      running -= 1;
      return answer();
    },
    { least: 5_000, most: 60_000 },
  );
  const distances = (): number[] => starts.slice(1).map((start, at) => start - (starts[at] ?? 0));
  return { runs, starts, distances, most: () => most };
}

describe('spaced runs', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });

  afterEach(() => {
    jest.useRealTimers();
  });

  it('begin at once, and turn a burst into one more run', async () => {
    const { runs, starts, distances, most } = observed(() => true);
    for (let requests = 0; requests < 100; requests += 1) runs.request('a');
    await jest.advanceTimersByTimeAsync(10);
    for (let requests = 0; requests < 100; requests += 1) runs.request('a');
    await jest.advanceTimersByTimeAsync(60_000);
    expect(starts).toHaveLength(2);
    expect(distances()).toEqual([6_000]);
    expect(most()).toBe(1);
  });

  it('become rare when nothing changes, and quick again when something does', async () => {
    let changed = false;
    const { runs, distances } = observed(() => changed);
    const asking = setInterval(() => runs.request('a'), 100);
    await jest.advanceTimersByTimeAsync(200_000);
    const quiet = distances();
    expect(quiet.length).toBeLessThan(8);
    expect(quiet.at(-1)).toBeGreaterThanOrEqual(60_000);
    changed = true;
    await jest.advanceTimersByTimeAsync(200_000);
    expect(distances().at(-1)).toBeLessThan(6_200);
    clearInterval(asking);
  });

  it('of different keys do not wait for each other', async () => {
    const { runs, starts, most } = observed(() => true);
    runs.request('a');
    runs.request('b');
    await jest.advanceTimersByTimeAsync(2_000);
    expect(starts).toHaveLength(2);
    expect(most()).toBe(2);
  });

  it('forget a key that is gone', async () => {
    const { runs, starts, distances } = observed(() => undefined);
    runs.request('a');
    await jest.advanceTimersByTimeAsync(1_500);
    runs.request('a');
    await jest.advanceTimersByTimeAsync(1_500);
    expect(starts).toHaveLength(2);
    expect(distances()[0]).toBeLessThan(2_000);
  });

  it('end when closed: what runs is waited for, what waits never begins', async () => {
    const { runs, starts } = observed(() => true);
    runs.request('a');
    await jest.advanceTimersByTimeAsync(500);
    runs.request('a');
    let closed = false;
    const closing = runs.close().then(() => (closed = true));
    await jest.advanceTimersByTimeAsync(400);
    expect(closed).toBe(false);
    await jest.advanceTimersByTimeAsync(60_000);
    await closing;
    runs.request('a');
    await jest.advanceTimersByTimeAsync(60_000);
    expect(starts).toHaveLength(1);
    expect(jest.getTimerCount()).toBe(0);
  });
});
