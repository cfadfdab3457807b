import { describe, expect, it } from '@jest/globals';
import { idCandidates, slugOf } from './connection-id.js';

describe('slugOf', () => {
  it.each([
    ['GitHub (work)', 'github-work'],
    ['  Crème brûlée  ', 'creme-brulee'],
    ['日本', 'connection'],
    ['mod.x', 'mod-x'],
    ['...', 'connection'],
    [`${'a'.repeat(63)} ${'b'.repeat(63)}`, 'a'.repeat(63)],
  ])('makes of %j %j', (name, slug) => {
    expect(slugOf(name)).toBe(slug);
  });
});

describe('idCandidates', () => {
  const first = (name: string, count: number): string[] => {
    const candidates = idCandidates(name);
    return Array.from({ length: count }, () => candidates.next().value);
  };

  it('numbers, then goes on at random, always with ids that are allowed', () => {
    const ids = first('GitHub', 200);
    expect(ids.slice(0, 3)).toEqual(['github', 'github-2', 'github-3']);
    expect(new Set(ids).size).toBe(200);
    expect(ids.every((id) => /^[A-Za-z0-9._-]{1,96}$/.test(id))).toBe(true);
  });

  it('passes over a reserved id', () => {
    expect(first('Export', 1)).toEqual(['export-2']);
  });
});
