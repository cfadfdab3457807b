import { describe, expect, it } from '@jest/globals';
import { AGENT_ID, candidateIds, slugOf } from './agent-id.js';

describe('an agent id', () => {
  it.each(['a', 'A.b_c-9', '...', '.a', 'mod', 'modest', 'Mod.x', 'x'.repeat(96)])('may be %s', (id) => {
    expect(AGENT_ID.test(id)).toBe(true);
  });

  it.each(['', ' ', 'a b', 'a/b', 'a\n', 'é', '.', '..', 'mod.', 'mod.x', 'a\0', 'x'.repeat(97)])(
    'may not be %j',
    (id) => {
      expect(AGENT_ID.test(id)).toBe(false);
    },
  );
});

describe('the id made from a name', () => {
  it.each([
    ['Research Bot', 'research-bot'],
    ['  Élan & Größe  ', 'elan-gro-e'],
    ['mod.files', 'mod-files'],
    ['..', 'agent'],
    ['研究', 'agent'],
    ['x'.repeat(120), 'x'.repeat(96)],
    [`${'x'.repeat(95)} y`, 'x'.repeat(95)],
  ])('of %j is %s', (name, slug) => {
    expect(slugOf(name)).toBe(slug);
  });

  it('counts up for namesakes, then turns random, and ends', () => {
    const ids = [...candidateIds('Demo')];
    expect(ids.slice(0, 4)).toEqual(['demo', 'demo-2', 'demo-3', 'demo-4']);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBeLessThan(50);
  });

  it.each(['x'.repeat(120), '研究', 'mod.x', '-'])('of %j is valid in every form', (name) => {
    for (const id of candidateIds(name)) expect(id).toMatch(AGENT_ID);
  });
});
