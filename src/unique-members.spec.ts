import { describe, expect, it } from '@jest/globals';
import { hasDuplicateMembers } from './unique-members.js';

describe('hasDuplicateMembers', () => {
  it.each([
    '{"a":1,"a":2}',
    '{"a":1,"\\u0061":2}',
    '{"b":{"a":1,"c":[],"a":2}}',
    '[{"a":"}","b":{},"a":"{"}]',
    '{"a":[1,2],"b":"x","a":null}',
    '{"":1,"":2}',
  ])('finds them in %s', (json) => expect(hasDuplicateMembers(json)).toBe(true));

  it.each([
    '{}',
    '"a"',
    '{"a":{"a":{"a":1}}}',
    '[{"a":1},{"a":1},"a","a"]',
    '{"a":"a","b":"a","A":",\\"a\\":1"}',
    '{"a":["b","b"],"b":["a"]}',
  ])('finds none in %s', (json) => expect(hasDuplicateMembers(json)).toBe(false));
});
