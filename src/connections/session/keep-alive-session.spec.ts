import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { actor, last } from '../../../test/support/session-actor.js';
import type { LiveStateName } from './live-state.js';
import { SessionError } from './session-error.js';

/** Which state may follow which. */
const FOLLOWERS: Record<LiveStateName, LiveStateName[]> = {
  idle: ['connecting'],
  connecting: ['connected', 'error', 'closed'],
  connected: ['error', 'closed', 'idle'],
  error: ['connecting', 'closed', 'idle'],
  closed: ['connecting'],
};

describe('a lasting session', () => {
  afterEach(() => {
    jest.useRealTimers();
  });

  it('waits for the end of the session before no longer than a start may take', async () => {
    const { session, use } = actor({ closes: false });
    await use();
    void session.stop();
    await expect(use()).rejects.toMatchObject({ kind: 'busy' });
    await expect(use({ launchRevision: 2 })).rejects.toMatchObject({ kind: 'busy' });
  });

  it('lets a caller leave who waits for it', async () => {
    const { session, use } = actor({ closes: false });
    await use();
    void session.stop();
    const controller = new AbortController();
    const waiting = use({ connectTimeoutMs: 60_000 }, controller.signal);
    controller.abort();
    await expect(waiting).rejects.toMatchObject({ kind: 'cancelled', sent: 'no' });
  });

  it('comes back by itself after half a second, with the settings of then', async () => {
    jest.useFakeTimers();
    const { session, opened, states, use } = actor({ current: { launchRevision: 1 } });
    await use();
    last(opened).break();
    await jest.advanceTimersByTimeAsync(0);
    expect(session.state).toMatchObject({ state: 'error', reason: 'http_error' });
    expect(session.isActive).toBe(true);
    await jest.advanceTimersByTimeAsync(700);
    expect(session.state.state).toBe('connected');
    expect(opened).toHaveLength(2);
    expect(opened[0]?.closings).toBe(1);
    expect(states).toEqual(['idle', 'connecting', 'connected', 'error', 'connecting', 'connected']);
    await session.stop();
  });

  it('opens at once for a caller who comes before that, and only once', async () => {
    jest.useFakeTimers();
    const { session, opened, use } = actor();
    await use();
    last(opened).break();
    await jest.advanceTimersByTimeAsync(0);
    await Promise.all([use(), use(), use()]);
    await jest.advanceTimersByTimeAsync(10_000);
    expect(opened).toHaveLength(2);
    await session.stop();
  });

  it.each([
    ['deleted', null],
    ['disabled', { enabled: false }],
    ['ephemeral', { lifecycle: 'ephemeral' as const }],
  ])('stays away when the connection is %s by then', async (_, current) => {
    jest.useFakeTimers();
    const { session, opened, use } = actor({ current });
    await use();
    last(opened).break();
    await jest.advanceTimersByTimeAsync(60_000);
    expect(opened).toHaveLength(1);
    expect(session.isActive).toBe(false);
  });

  it('gives up after five attempts, until somebody calls', async () => {
    jest.useFakeTimers();
    let attempts = 0;
    let broken = false;
    const fails = () => {
      attempts += 1;
      return broken ? new SessionError('unreachable', 'away', { reason: 'connection_refused' }) : undefined;
    };
    const { session, opened, use } = actor({ fails });
    await use();
    broken = true;
    last(opened).break();
    await jest.advanceTimersByTimeAsync(3_600_000);
    expect(attempts).toBe(1 + 5);
    expect(session.state).toMatchObject({ state: 'error', reason: 'connection_refused' });
    broken = false;
    expect(await use()).toBe('done');
    await session.stop();
  });

  it('does not try again where only an operator can help', async () => {
    jest.useFakeTimers();
    let attempts = 0;
    const fails = () => {
      attempts += 1;
      return attempts === 1 ? undefined : new SessionError('unreachable', 'no', { reason: 'auth_required' });
    };
    const { opened, use } = actor({ fails });
    await use();
    last(opened).break();
    await jest.advanceTimersByTimeAsync(3_600_000);
    expect(attempts).toBe(2);
  });

  it('earns a fresh budget by being stable, not by breaking again and again', async () => {
    jest.useFakeTimers();
    const { session, opened, use } = actor();
    await use();
    for (let count = 1; count <= 8; count += 1) {
      last(opened).break();
      await jest.advanceTimersByTimeAsync(10_000);
    }
    expect(opened).toHaveLength(1 + 5);
    await use();
    await jest.advanceTimersByTimeAsync(60_000);
    last(opened).break();
    await jest.advanceTimersByTimeAsync(10_000);
    expect(session.state.state).toBe('connected');
    expect(opened).toHaveLength(1 + 5 + 1 + 1);
    await session.stop();
  });

  it('goes from state to state only as drawn, whatever happens in which order', async () => {
    jest.useFakeTimers();
    const seed = Math.floor(Math.random() * 2 ** 31);
    let value = seed;
    const random = (below: number): number => {
      value = (Math.imul(value, 1_103_515_245) + 12_345) & 0x7fffffff;
      return (value >> 8) % below;
    };
    const fails = () =>
      random(4) === 0 ? new SessionError('unreachable', 'away', { reason: 'connection_refused' }) : undefined;
    const { session, opened, states, use } = actor({ fails });
    for (let step = 0; step < 400; step += 1) {
      const act = random(6);
      if (act <= 1) void use().catch(() => undefined);
      else if (act === 2) opened.at(-1)?.break();
      else if (act === 3) void session.stop(random(2) === 0 ? 'closed' : 'idle');
      if (random(2) === 0) await jest.advanceTimersByTimeAsync(random(100_000));
    }
    await jest.advanceTimersByTimeAsync(10_000);
    await session.stop();
    const wrong = states.filter((state, place) => place > 0 && !FOLLOWERS[states[place - 1] ?? 'idle'].includes(state));
    expect({ seed, wrong, entered: new Set(states).size }).toEqual({ seed, wrong: [], entered: 5 });
    expect({ seed, left: opened.filter(({ closings }) => closings === 0).length }).toEqual({ seed, left: 0 });
  });
});
