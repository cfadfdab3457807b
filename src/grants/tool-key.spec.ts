import { describe, expect, it } from '@jest/globals';
import { nameTools, ToolKeySet } from './tool-key.js';

describe('a set of tools', () => {
  it('keeps apart what any joined form would mix up', () => {
    const set = new ToolKeySet([{ providerId: 'a', toolName: 'b/c' }]);
    expect(set.has({ providerId: 'a', toolName: 'b/c' })).toBe(true);
    expect(set.has({ providerId: 'a/b', toolName: 'c' })).toBe(false);
    expect(set.has({ providerId: 'a', toolName: 'B/C' })).toBe(false);
    expect(set.has({ providerId: 'a', toolName: ' b/c' })).toBe(false);
  });

  it('holds names that objects inherit', () => {
    const set = new ToolKeySet();
    expect(set.has({ providerId: 'constructor', toolName: '__proto__' })).toBe(false);
    expect(set.add({ providerId: 'constructor', toolName: '__proto__' })).toBe(true);
    expect(set.add({ providerId: 'constructor', toolName: '__proto__' })).toBe(false);
  });
});

describe('the tools of a request', () => {
  it('collapse duplicates and remember their first place', () => {
    const tool = (connectionId: string, toolName: string) => ({ connectionId, toolName });
    expect(nameTools('add', [tool('a', 'x'), tool('a', 'x'), tool('a', 'X'), tool('b', 'x')])).toEqual([
      { providerId: 'a', toolName: 'x', path: 'add[0]' },
      { providerId: 'a', toolName: 'X', path: 'add[2]' },
      { providerId: 'b', toolName: 'x', path: 'add[3]' },
    ]);
  });

  it('are none when the list is left out or null', () => {
    expect(nameTools('add', undefined)).toEqual([]);
    expect(nameTools('add', null)).toEqual([]);
  });
});
