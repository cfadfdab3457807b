import { describe, expect, it } from '@jest/globals';
import { AGENT_ID } from './agent-id.js';

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
