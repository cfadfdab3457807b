import { describe, expect, it } from '@jest/globals';
import { sha256Hex } from '../canonical-json.js';
import { definitionHash } from './definition-hash.js';

const TOOL = {
  name: 'echo',
  title: 'Echo',
  description: 'Says it again',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  outputSchema: { type: 'object' },
  annotations: { readOnlyHint: true },
};

describe('definitionHash', () => {
  it('is the SHA-256 of the canonical form of what is there', () => {
    expect(definitionHash({ name: 'echo', inputSchema: { type: 'object' } })).toBe(
      sha256Hex('{"inputSchema":{"type":"object"},"name":"echo"}'),
    );
  });

  it('does not depend on the order of members, nor on what a grant is not given for', () => {
    const { name, ...rest } = TOOL;
    const schema = { required: ['text'], properties: { text: { type: 'string' } }, type: 'object' };
    const other = { _meta: { build: 7 }, icons: [], ...rest, inputSchema: schema, name };
    expect(definitionHash(other)).toBe(definitionHash(TOOL));
  });

  it.each(['name', 'title', 'description', 'inputSchema', 'outputSchema', 'annotations'] as const)(
    'changes with the %s',
    (part) => {
      expect(definitionHash({ ...TOOL, [part]: 'something else' })).not.toBe(definitionHash(TOOL));
    },
  );

  it('tells an absent part from an empty one', () => {
    expect(definitionHash({ name: 'echo' })).toBe(definitionHash({ name: 'echo', title: undefined }));
    expect(definitionHash({ name: 'echo' })).not.toBe(definitionHash({ name: 'echo', title: '' }));
  });
});
