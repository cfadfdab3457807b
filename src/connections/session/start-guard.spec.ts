import { setMaxListeners } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { SessionError } from './session-error.js';
import { StartGuard } from './start-guard.js';

const { signal } = new AbortController();
setMaxListeners(0, signal);
const agent = { signal, insists: false };
const operator = { signal, insists: true };
const failure = (retryAfterMs?: number) =>
  new SessionError('unreachable', 'The provider answered HTTP 429.', { reason: 'http_error', retryAfterMs });

function guarded() {
  let now = 0;
  let starts = 0;
  const guard = new StartGuard(() => now);
  return {
    guard,
    starts: () => starts,
    wait: (milliseconds: number) => (now += milliseconds),
    fail: (starter = agent, retryAfterMs?: number) =>
      guard
        .run(() => {
          starts += 1;
          return Promise.reject(failure(retryAfterMs));
        }, starter)
        .catch((error: unknown) => error as SessionError),
    succeed: (starter = agent) =>
      guard.run(() => {
        starts += 1;
        return Promise.resolve('open');
      }, starter),
  };
}

describe('StartGuard', () => {
  it('lets one caller try while nothing is known, and shares the failure with those who wait', async () => {
    const { starts, fail } = guarded();
    const failures = await Promise.all(Array.from({ length: 20 }, () => fail()));
    expect(starts()).toBe(1);
    expect(new Set(failures).size).toBe(1);
  });

  it('lets those who waited start side by side once it is known to be well', async () => {
    const { starts, succeed } = guarded();
    expect(await Promise.all(Array.from({ length: 20 }, () => succeed()))).toHaveLength(20);
    expect(starts()).toBe(20);
  });

  it('answers at once after five failures in a row, until one probe succeeds', async () => {
    const { guard, starts, wait, fail, succeed } = guarded();
    for (let count = 1; count <= 5; count += 1) {
      expect(guard.refusal).toBeUndefined();
      await fail();
    }
    const refused = await fail();
    expect(refused).toMatchObject({ kind: 'unreachable', sent: 'no', reason: 'http_error', retryAfterMs: 10_000 });
    expect(starts()).toBe(5);
    wait(10_000);
    const [probe, ...others] = await Promise.all([succeed(), fail(), fail()]);
    expect(probe).toBe('open');
    expect(others).toEqual([expect.objectContaining({ retryAfterMs: 1_000 }), expect.anything()]);
    expect(starts()).toBe(6);
    expect(guard.refusal).toBeUndefined();
    await Promise.all([succeed(), succeed()]);
    expect(starts()).toBe(8);
  });

  it('doubles the rest after each failed probe, up to two minutes', async () => {
    const { wait, fail } = guarded();
    for (let count = 1; count <= 5; count += 1) await fail();
    const rests: unknown[] = [];
    for (let probe = 1; probe <= 6; probe += 1) {
      const { retryAfterMs = 0 } = await fail();
      rests.push(retryAfterMs);
      wait(retryAfterMs);
      await fail();
    }
    expect(rests).toEqual([10_000, 20_000, 40_000, 80_000, 120_000, 120_000]);
  });

  it('rests when the provider asks for it', async () => {
    const { guard, starts, wait, fail } = guarded();
    await fail(agent, 30_000);
    expect(await fail()).toMatchObject({ retryAfterMs: 30_000 });
    expect(starts()).toBe(1);
    wait(30_000);
    expect(guard.refusal).toBeUndefined();
  });

  it('never holds an operator back', async () => {
    const { guard, starts, fail, succeed } = guarded();
    for (let count = 1; count <= 5; count += 1) await fail();
    await fail(operator);
    expect(starts()).toBe(6);
    expect(guard.refusal).toBeDefined();
    expect(await succeed(operator)).toBe('open');
    expect(guard.refusal).toBeUndefined();
  });

  it('counts starts that fail side by side once', async () => {
    const { guard, succeed, fail } = guarded();
    await succeed();
    await Promise.all(Array.from({ length: 16 }, () => fail()));
    expect(guard.refusal).toBeUndefined();
  });

  it('takes neither a full server nor a caller that left for a failure of the provider', async () => {
    const { guard } = guarded();
    const kinds = ['busy', 'cancelled', 'interrupted', 'timeout'] as const;
    for (let count = 1; count <= 3; count += 1) {
      for (const kind of kinds) {
        const start = () => Promise.reject(new SessionError(kind, 'not its fault'));
        await expect(guard.run(start, agent)).rejects.toMatchObject({ kind });
      }
    }
    expect(guard.refusal).toBeUndefined();
  });

  it('passes the trial on when the one who tried leaves, and lets those who wait leave', async () => {
    const { guard } = guarded();
    let leave = (_: Error): void => undefined;
    const first = guard.run(() => new Promise((_, reject) => (leave = reject)), agent);
    const leaving = new AbortController();
    const second = guard.run(() => Promise.resolve('second'), agent);
    const third = guard.run(() => Promise.resolve('third'), { signal: leaving.signal, insists: false });
    leaving.abort();
    await expect(third).rejects.toMatchObject({ kind: 'cancelled', sent: 'no' });
    leave(new SessionError('cancelled', 'left'));
    await expect(first).rejects.toMatchObject({ kind: 'cancelled' });
    expect(await second).toBe('second');
  });
});
