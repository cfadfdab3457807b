import { describe, expect, it } from '@jest/globals';
import { entityTag, requireRevision } from './entity-tag.js';

describe('requireRevision', () => {
  it.each([undefined, '"3"', '*', '"2", "3"'])('lets %j pass at revision 3', (header) => {
    expect(() => requireRevision(header, 3)).not.toThrow();
  });

  it.each(['"2"', '"33"', '3', 'W/"3"', '', '"2", "4"'])('refuses %j at revision 3', (header) => {
    expect(() => requireRevision(header, 3)).toThrow(expect.objectContaining({ code: 'stale_revision' }));
  });

  it('takes its own tag', () => {
    expect(() => requireRevision(entityTag(7), 7)).not.toThrow();
  });
});
