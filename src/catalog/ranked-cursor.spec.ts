import { describe, expect, it } from '@jest/globals';
import { encodeCursor } from '../pagination.js';
import { RankedCursor } from './ranked-cursor.js';

describe('a ranked cursor', () => {
  const asked = new RankedCursor(['capabilities', 'ann', null, 'files']);
  const cursor = asked.next(12, 30) ?? '';

  it('continues where the page ended, and ends with the list', () => {
    expect(asked.offset(undefined)).toBe(0);
    expect(asked.offset(cursor)).toBe(12);
    expect(asked.next(30, 30)).toBeNull();
    expect(asked.next(42, 30)).toBeNull();
  });

  it.each([
    ['another query', ['capabilities', 'ann', null, 'file']],
    ['another agent', ['capabilities', 'bob', null, 'files']],
    ['another division of the same text', ['capabilities', 'ann', 'files', null]],
  ])('is refused for %s', (_what, question) => {
    expect(() => new RankedCursor(question).offset(cursor)).toThrow(
      expect.objectContaining({ code: 'cursor_invalid' }),
    );
  });

  it.each(['', 'x', encodeCursor([12]), encodeCursor([-1, 'x'])])('refuses %j', (text) => {
    expect(() => asked.offset(text)).toThrow(expect.objectContaining({ code: 'cursor_invalid' }));
  });

  it('refuses an offset that is no place', () => {
    const fingerprint = (JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[])[1] as string;
    for (const offset of [-12, 0, 1.5, 1e300]) {
      expect(() => asked.offset(encodeCursor([offset, fingerprint]))).toThrow('nextCursor of an earlier page');
    }
  });
});
