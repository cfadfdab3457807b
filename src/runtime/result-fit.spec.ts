import { describe, expect, it } from '@jest/globals';
import { fitOf, sizeOf } from './result-fit.js';

const bounds = { characters: 1_000, levels: 10 };

describe('fitOf', () => {
  it.each([['text'], [7], [null], [true], [[]], [{}], [{ a: [1, { b: 'c' }] }], ['x'.repeat(998)]])(
    'lets %j pass',
    (value) => expect(fitOf(value, bounds)).toBe('fits'),
  );

  it('knows the bounds to a comma', () => {
    const list = Array.from({ length: 100 }, () => 'x'.repeat(7));
    const { length } = JSON.stringify(list);
    expect(fitOf(list, { characters: length, levels: 1 })).toBe('fits');
    expect(fitOf(list, { characters: length - 2, levels: 1 })).toBe('too_large');
    expect(fitOf([[[]]], { characters: 10, levels: 3 })).toBe('fits');
    expect(fitOf([[[]]], { characters: 10, levels: 2 })).toBe('too_deep');
  });

  it.each([
    ['text', 'x'.repeat(2_000)],
    ['names', Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`name${index}`, 0]))],
    ['items', Array.from({ length: 1_000 }, () => 0)],
    ['nested', { a: [{ b: { c: ['x'.repeat(2_000)] } }] }],
  ])('refuses too much in %s', (_what, value) => expect(fitOf(value, bounds)).toBe('too_large'));

  it('looks at no more members than fit', () => {
    let looks = 0;
    const watched = new Proxy(
      Array.from({ length: 100_000 }, () => 'x'.repeat(100)),
      {
        get: (target, name, receiver) => {
          looks += 1;
          return Reflect.get(target, name, receiver);
        },
      },
    );
    expect(fitOf(watched, { characters: 1_000_000, levels: 10 })).toBe('too_large');
    expect(looks).toBeLessThan(10_000);
    const names = Array.from({ length: 100_000 }, (_, index) => `n${index}`);
    const members = new Proxy(Object.fromEntries(names.map((name) => [name, 1])), {
      get: () => {
        throw new Error('looked at a member');
      },
    });
    expect(fitOf(members, bounds)).toBe('too_large');
  });
});

describe('sizeOf', () => {
  it.each([
    ['text', 0],
    [[], 0],
    [{ a: 1, b: 'c' }, 2],
    [{ a: [1, { b: 'c' }], d: null }, 5],
  ])('counts what %j holds: %i', (value, size) => expect(sizeOf(value, { values: 10, levels: 10 })).toBe(size));

  it('knows its bounds', () => {
    expect(sizeOf([0, [1, 2]], { values: 4, levels: 2 })).toBe(4);
    expect(sizeOf([0, [1, 2]], { values: 3, levels: 2 })).toBe('too_large');
    expect(sizeOf([0, [1, 2]], { values: 4, levels: 1 })).toBe('too_deep');
  });

  it('looks at no member of a container that is too large', () => {
    const members = new Proxy(Array.from({ length: 100 }), {
      get: (target, name, receiver): unknown => {
        if (name !== 'length') throw new Error(`looked at ${String(name)}`);
        return Reflect.get(target, name, receiver);
      },
    });
    expect(sizeOf({ members }, { values: 50, levels: 10 })).toBe('too_large');
  });
});
