import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { actor, last, launchOf } from '../../../test/support/session-actor.js';
import { SessionError } from './session-error.js';

describe('a lasting session that nobody uses', () => {
  afterEach(() => {
    jest.useRealTimers();
  });

  it('asks a quiet remote provider for a sign of life every three minutes, and idles away all the same', async () => {
    jest.useFakeTimers();
    const { session, opened, use } = actor();
    await use();
    await jest.advanceTimersByTimeAsync(599_000);
    expect(last(opened).pings).toBe(3);
    expect(session.state.state).toBe('connected');
    await jest.advanceTimersByTimeAsync(2_000);
    expect(session.state.state).toBe('idle');
    await jest.advanceTimersByTimeAsync(3_600_000);
    expect(last(opened).pings).toBe(3);
    expect(opened).toHaveLength(1);
  });

  it('idles away also when it breaks again and again meanwhile', async () => {
    jest.useFakeTimers();
    const { session, opened, use } = actor();
    await use();
    for (let count = 1; count <= 8; count += 1) {
      await jest.advanceTimersByTimeAsync(90_000);
      last(opened).break();
    }
    await jest.advanceTimersByTimeAsync(20_000);
    expect(session.state.state).toBe('idle');
    expect(session.isActive).toBe(false);
    expect(opened.length).toBeLessThanOrEqual(8);
    await jest.advanceTimersByTimeAsync(3_600_000);
    expect(opened.length).toBeLessThanOrEqual(8);
  });

  it('goes on coming back after a call that came too early', async () => {
    jest.useFakeTimers();
    let away = false;
    const fails = () => (away ? new SessionError('unreachable', 'away', { reason: 'connection_refused' }) : undefined);
    const { session, opened, use } = actor({ fails });
    await use();
    away = true;
    last(opened).break();
    await jest.advanceTimersByTimeAsync(0);
    await expect(use()).rejects.toMatchObject({ kind: 'unreachable' });
    away = false;
    await jest.advanceTimersByTimeAsync(10_000);
    expect(session.state.state).toBe('connected');
    await session.stop();
  });

  it('counts as broken when nothing gets through to the provider any more', async () => {
    jest.useFakeTimers();
    const { session, states, use } = actor();
    await use();
    const refused = new SessionError('unreachable', 'refused', { reason: 'connection_refused', sent: 'no' });
    const bounds = { signal: new AbortController().signal, timeoutMs: 1_000 };
    const call = (failure: SessionError) => session.use(launchOf(), 'agent', bounds, () => Promise.reject(failure));
    for (const state of ['connected', 'connected', 'error']) {
      await expect(call(refused)).rejects.toBe(refused);
      expect(states.at(-1)).toBe(state);
    }
    const denied = new SessionError('unreachable', 'denied', { reason: 'http_error', sent: 'yes' });
    await use();
    for (let count = 1; count <= 4; count += 1) await expect(call(denied)).rejects.toBe(denied);
    expect(states.at(-1)).toBe('connected');
    await session.stop();
  });

  it('never asks a local process, and none that is in use', async () => {
    jest.useFakeTimers();
    const { session, opened, use } = actor();
    await use({ transport: 'stdio' });
    await jest.advanceTimersByTimeAsync(599_000);
    expect(last(opened).pings).toBe(0);
    await session.stop();
    await use();
    for (let count = 1; count <= 10; count += 1) {
      await jest.advanceTimersByTimeAsync(100_000);
      await use();
    }
    expect(last(opened).pings).toBe(0);
    await session.stop();
  });

  it('takes a provider that gives no sign of life for broken', async () => {
    jest.useFakeTimers();
    const { session, opened, states, use } = actor();
    await use();
    last(opened).alive = false;
    await jest.advanceTimersByTimeAsync(181_000);
    expect(states.slice(3, 4)).toEqual(['error']);
    expect(session.state.state).toBe('connected');
    expect(opened).toHaveLength(2);
    await session.stop();
  });
});

describe('a lasting session whose provider does not answer a call', () => {
  afterEach(() => {
    jest.useRealTimers();
  });

  const unanswered = () => Promise.reject(new SessionError('timeout', 'no answer', { sent: 'maybe' }));
  const never = new AbortController().signal;

  it('asks a remote one for a sign of life, and lives on with it', async () => {
    const { session, opened, use } = actor();
    await Promise.allSettled([use({}, never, unanswered)]);
    expect(last(opened).pings).toBe(1);
    expect(session.state.state).toBe('connected');
    await session.stop();
  });

  it('comes back on a new one when there is none', async () => {
    jest.useFakeTimers();
    const { session, opened, use } = actor();
    await use();
    last(opened).alive = false;
    await Promise.allSettled([use({}, never, unanswered)]);
    await jest.advanceTimersByTimeAsync(0);
    expect(session.state).toMatchObject({ state: 'error', reason: 'connection_refused' });
    await jest.advanceTimersByTimeAsync(700);
    expect(session.state.state).toBe('connected');
    expect(opened).toHaveLength(2);
    await session.stop();
  });

  it('does not ask a local one, which may be busy', async () => {
    const { session, opened, use } = actor();
    await Promise.allSettled([use({ transport: 'stdio' }, never, unanswered)]);
    expect(last(opened).pings).toBe(0);
    await session.stop();
  });
});
