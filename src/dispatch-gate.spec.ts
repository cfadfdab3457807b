import { describe, expect, it } from '@jest/globals';
import { type DispatchGate, gateOf, withDispatchGate } from './dispatch-gate.js';

function gateFor(guarded: string): DispatchGate {
  return {
    guards: (body) => body === guarded,
    admit: () => Promise.resolve(),
    mayWrite: () => true,
    written: () => undefined,
    abandoned: () => undefined,
  };
}

describe('dispatch gate', () => {
  it('is found by the guarded message however deep it is sent, and by no other', async () => {
    const gate = gateFor('call');
    const found = await withDispatchGate(gate, async () => {
      await Promise.resolve();
      return new Promise((resolve) => {
        setImmediate(() => {
          resolve([gateOf('call'), gateOf('ping')]);
        });
      });
    });
    expect(found).toEqual([gate, undefined]);
  });

  it('belongs to its operation only', async () => {
    const [first, second] = [gateFor('a'), gateFor('b')];
    await Promise.all([
      withDispatchGate(first, async () => {
        await Promise.resolve();
        expect([gateOf('a'), gateOf('b')]).toEqual([first, undefined]);
      }),
      withDispatchGate(second, async () => {
        await Promise.resolve();
        expect([gateOf('a'), gateOf('b')]).toEqual([undefined, second]);
      }),
    ]);
    expect(gateOf('a')).toBeUndefined();
  });
});
