import { describe, expect, it } from '@jest/globals';
import { Slots } from './slots.js';

const never = new AbortController().signal;

describe('Slots', () => {
  it('lets as many in as its size and passes slots on in order', async () => {
    const slots = new Slots(2);
    const order: string[] = [];
    const first = await slots.take(never);
    const second = await slots.take(never);
    const third = slots.take(never).then((release) => (order.push('third'), release));
    const fourth = slots.take(never).then((release) => (order.push('fourth'), release));
    expect(slots.queued).toBe(2);
    first();
    first();
    (await third)();
    (await fourth)();
    second();
    expect(order).toEqual(['third', 'fourth']);
    expect([slots.inUse, slots.queued]).toEqual([0, 0]);
  });

  it('lets a waiter leave the line', async () => {
    const slots = new Slots(1);
    const release = await slots.take(never);
    const controller = new AbortController();
    const left = slots.take(controller.signal);
    controller.abort(new Error('enough'));
    await expect(left).rejects.toThrow('enough');
    release();
    expect([slots.inUse, slots.queued]).toEqual([0, 0]);
  });
});
