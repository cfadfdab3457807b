import { describe, expect, it } from '@jest/globals';
import { callKeyOf, McpInFlight } from './mcp.in-flight.js';

const key = (requestId: string | number, sessionId = 's', agentId = 'a') => ({ agentId, sessionId, requestId });

function enter(inFlight: McpInFlight, ...of: Parameters<typeof key>) {
  const controller = new AbortController();
  const leave = inFlight.enter(of[2] ?? 'a', key(...of), controller);
  return { signal: controller.signal, leave };
}

describe('calls in flight', () => {
  it('are told apart by agent, session and id with its type', () => {
    const inFlight = new McpInFlight();
    const calls = [
      enter(inFlight, 1),
      enter(inFlight, '1'),
      enter(inFlight, 1, ''),
      enter(inFlight, 1, 's', 'b'),
      enter(inFlight, 1, 's","b'),
    ];
    expect(inFlight.cancelHere(key(1))).toBe(true);
    expect(calls.map(({ signal }) => signal.aborted)).toEqual([true, false, false, false, false]);
    expect(calls[0]?.signal.reason).toMatchObject({ why: 'cancelled' });
  });

  it('are forgotten when they end, once', () => {
    const inFlight = new McpInFlight();
    const [first, second] = [enter(inFlight, 1), enter(inFlight, 2)];
    first.leave();
    first.leave();
    expect(inFlight.size).toBe(1);
    expect(inFlight.cancelHere(key(1))).toBe(false);
    expect(first.signal.aborted).toBe(false);
    expect(inFlight.cancelHere(key(2))).toBe(true);
    second.leave();
    expect(inFlight.size).toBe(0);
  });

  it('are left alone when it is unknown which of two is meant', async () => {
    const inFlight = new McpInFlight();
    const [first, second] = [enter(inFlight, 1, ''), enter(inFlight, 1, '')];
    await inFlight.cancel(key(1, ''));
    expect([first.signal.aborted, second.signal.aborted]).toEqual([false, false]);
    first.leave();
    await inFlight.cancel(key(1, ''));
    expect(second.signal.aborted).toBe(true);
  });

  it('are cancelled from elsewhere when they began before that', () => {
    const inFlight = new McpInFlight();
    const calls = [enter(inFlight, 1), enter(inFlight, 1, ''), enter(inFlight, 2, '')];
    expect(inFlight.cancellableAgents).toEqual(['a']);
    // a minute old: all of these calls came later
    for (const named of [key(1), key(1, ''), key(2, '')])
      inFlight.cancelBegun(callKeyOf(named), performance.now() - 60_000);
    expect(calls.map(({ signal }) => signal.aborted)).toEqual([false, false, false]);
    // a moment older than the calls: it may have overtaken its call where a session id tells whose it is
    for (const named of [key(1), key(1, '')]) inFlight.cancelBegun(callKeyOf(named), performance.now() - 500);
    expect(calls.map(({ signal }) => signal.aborted)).toEqual([true, false, false]);
    inFlight.cancelBegun(callKeyOf(key(1, '')), performance.now());
    inFlight.cancelBegun(callKeyOf(key(9, '')), performance.now());
    expect(calls.map(({ signal }) => signal.aborted)).toEqual([true, true, false]);
  });

  it('have keys of the same length and plain characters, whatever a client sends', () => {
    const keys = ['\0', '\ud800', 'x'.repeat(1_000_000), '1', 1].map((id) => callKeyOf(key(id)));
    expect(new Set(keys).size).toBe(5);
    for (const text of keys) expect(text).toMatch(/^[\w-]{43}$/);
  });

  it('all end at a shutdown, those without a key too', () => {
    const inFlight = new McpInFlight();
    const keyed = enter(inFlight, 1);
    const controller = new AbortController();
    inFlight.enter('a', undefined, controller);
    inFlight.abortAll();
    expect([keyed.signal.reason.why, controller.signal.reason.why]).toEqual(['shutdown', 'shutdown']);
  });
});
