import { describe, expect, it } from '@jest/globals';
import { Slots } from './slots.js';

const never = new AbortController().signal;

describe('Slots', () => {
  it('lets as many in as its size and passes slots on in order', async () => {
    const slots = new Slots(2);
    const order: string[] = [];
    const first = await slots.take('', never);
    const second = await slots.take('', never);
    const third = slots.take('', never).then((release) => (order.push('third'), release));
    const fourth = slots.take('', never).then((release) => (order.push('fourth'), release));
    expect(slots.queued).toBe(2);
    first();
    first();
    (await third)();
    (await fourth)();
    second();
    expect(order).toEqual(['third', 'fourth']);
    expect([slots.inUse, slots.queued]).toEqual([0, 0]);
  });

  it('serves the keys in turn, each in order', async () => {
    const slots = new Slots(1);
    const release = await slots.take('greedy', never);
    const order: string[] = [];
    const asked = ['greedy 1', 'greedy 2', 'greedy 3', 'modest 1', 'modest 2', 'late 1'].map(async (name) => {
      const done = await slots.take(name.split(' ')[0] ?? '', never);
      order.push(name);
      done();
    });
    release();
    await Promise.all(asked);
    expect(order).toEqual(['greedy 1', 'modest 1', 'late 1', 'greedy 2', 'modest 2', 'greedy 3']);
    expect([slots.inUse, slots.queued]).toEqual([0, 0]);
  });

  it('counts those who hold a slot when its size changes', async () => {
    const slots = new Slots(1);
    const releases = [await slots.take('', never)];
    const waiting = ['b', 'c', 'd'].map(async (key) => void releases.push(await slots.take(key, never)));
    slots.resize(3);
    await Promise.all(waiting.slice(0, 2));
    expect([slots.inUse, slots.queued]).toEqual([3, 1]);
    slots.resize(1);
    releases[0]?.();
    releases[1]?.();
    expect([slots.inUse, slots.queued]).toEqual([1, 1]);
    releases[2]?.();
    await Promise.all(waiting);
    expect([slots.inUse, slots.queued]).toEqual([1, 0]);
  });

  it('lets a waiter leave the line', async () => {
    const slots = new Slots(1);
    const release = await slots.take('', never);
    const controller = new AbortController();
    const left = slots.take('', controller.signal);
    const stays = slots.take('', never);
    controller.abort(new Error('enough'));
    await expect(left).rejects.toThrow('enough');
    expect(slots.queued).toBe(1);
    release();
    (await stays)();
    expect([slots.inUse, slots.queued]).toEqual([0, 0]);
  });
});
