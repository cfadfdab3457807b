import { describe, expect, it } from '@jest/globals';
import { idCandidates, slugOf } from './id-candidates.js';

describe('slugOf', () => {
  it.each([
    ['GitHub (work)', 'github-work'],
    ['  Crème brûlée  ', 'creme-brulee'],
    ['  Élan & Größe  ', 'elan-gro-e'],
    ['日本', 'thing'],
    ['mod.x', 'mod-x'],
    ['...', 'thing'],
    ['x'.repeat(120), 'x'.repeat(64)],
    [`${'a'.repeat(63)} ${'b'.repeat(63)}`, 'a'.repeat(63)],
  ])('makes of %j %j', (name, slug) => {
    expect(slugOf(name, 'thing')).toBe(slug);
  });
});

describe('idCandidates', () => {
  it('counts up for namesakes, then turns random, and ends', () => {
    const ids = [...idCandidates('GitHub', 'thing')];
    expect(ids.slice(0, 4)).toEqual(['github', 'github-2', 'github-3', 'github-4']);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBeLessThan(50);
  });

  it('passes over a reserved id', () => {
    expect([...idCandidates('Export', 'thing', (id) => id === 'export')][0]).toBe('export-2');
  });

  it.each(['x'.repeat(120), '研究', 'mod.x', '-'])('gives only valid ids for %j', (name) => {
    for (const id of idCandidates(name, 'thing')) expect(id).toMatch(/^[A-Za-z0-9._-]{1,96}$/);
  });
});
