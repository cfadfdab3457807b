import { describe, expect, it } from '@jest/globals';
import { entityTag, requireMatch } from './if-match.js';

describe('If-Match', () => {
  it.each([undefined, '*', entityTag(3), '"1", "3"', ' "3" '])('%j fits revision 3', (header) => {
    expect(() => requireMatch(header, 3)).not.toThrow();
  });

  it.each(['"2"', '"33"', '"03"', 'W/"3"', '"other"', '"1", "2"'])('%j is stale at revision 3', (header) => {
    expect(() => requireMatch(header, 3)).toThrow(expect.objectContaining({ code: 'stale_revision' }));
  });

  it.each(['', '3', '"3', '"1","3"x', ',', '*, "3"', `"${'3'.repeat(2_000)}"`])('%j is no list of tags', (header) => {
    expect(() => requireMatch(header, 3)).toThrow(
      expect.objectContaining({ code: 'validation_failed', errors: [expect.objectContaining({ path: 'If-Match' })] }),
    );
  });
});
