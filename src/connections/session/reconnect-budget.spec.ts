import { describe, expect, it } from '@jest/globals';
import { ReconnectBudget, reconnectTiming } from './reconnect-budget.js';

const spend = (budget: ReconnectBudget): (number | undefined)[] => Array.from({ length: 6 }, () => budget.next());

describe('ReconnectBudget', () => {
  it('allows five attempts, from half a second doubling to eight', () => {
    const middle = new ReconnectBudget(reconnectTiming, () => 0.5);
    expect(spend(middle)).toEqual([500, 1_000, 2_000, 4_000, 8_000, undefined]);
  });

  it('spreads them by a fifth either way', () => {
    expect(new ReconnectBudget(reconnectTiming, () => 0).next()).toBeCloseTo(400);
    expect(new ReconnectBudget(reconnectTiming, () => 1).next()).toBeCloseTo(600);
  });

  it('gives a fresh budget to a session that was stable for a minute, and to no other', () => {
    const budget = new ReconnectBudget(reconnectTiming, () => 0.5);
    spend(budget);
    budget.broke(59_999);
    expect(budget.next()).toBeUndefined();
    budget.broke(60_000);
    expect(budget.next()).toBe(500);
  });
});
