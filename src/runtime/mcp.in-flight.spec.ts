import { describe, expect, it } from '@jest/globals';
import { McpInFlight } from './mcp.in-flight.js';
import { McpLimits } from './mcp.limits.js';

const key = (requestId: string | number, sessionId = 's', agentId = 'a') => ({ agentId, sessionId, requestId });

function enter(inFlight: McpInFlight, ...of: Parameters<typeof key>) {
  const controller = new AbortController();
  const leave = inFlight.enter(of[2] ?? 'a', key(...of), controller);
  return { signal: controller.signal, leave: () => leave?.(), entered: leave !== undefined };
}

describe('calls in flight', () => {
  it('are told apart by agent, session and id with its type', () => {
    const inFlight = new McpInFlight(new McpLimits());
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
    const inFlight = new McpInFlight(new McpLimits());
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

  it('are left alone when it is unknown which of two is meant', () => {
    const inFlight = new McpInFlight(new McpLimits());
    const [first, second] = [enter(inFlight, 1, ''), enter(inFlight, 1, '')];
    inFlight.cancel(key(1, ''));
    expect([first.signal.aborted, second.signal.aborted]).toEqual([false, false]);
    first.leave();
    inFlight.cancel(key(1, ''));
    expect(second.signal.aborted).toBe(true);
  });

  it('are bounded for each agent and in all, and make room when they end', () => {
    const limits = Object.assign(new McpLimits(), { maxCalls: 3, maxCallsPerAgent: 2 });
    const inFlight = new McpInFlight(limits);
    const first = enter(inFlight, 1);
    expect(enter(inFlight, 2).entered).toBe(true);
    expect(enter(inFlight, 3).entered).toBe(false);
    expect(enter(inFlight, 1, 's', 'b').entered).toBe(true);
    expect(enter(inFlight, 2, 's', 'b').entered).toBe(false);
    first.leave();
    expect(enter(inFlight, 3).entered).toBe(true);
    expect(inFlight.size).toBe(3);
  });

  it('all end at a shutdown, those without a key too', () => {
    const inFlight = new McpInFlight(new McpLimits());
    const keyed = enter(inFlight, 1);
    const controller = new AbortController();
    inFlight.enter('a', undefined, controller);
    inFlight.abortAll();
    expect([keyed.signal.reason.why, controller.signal.reason.why]).toEqual(['shutdown', 'shutdown']);
  });
});
