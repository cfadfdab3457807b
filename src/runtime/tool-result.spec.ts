import { describe, expect, it } from '@jest/globals';
import { Redactor } from '../redactor.js';
import { CallFailure } from './call-failure.js';
import { protectResult } from './result-protection.js';
import { truncateResult } from './result-truncation.js';
import { readToolResult } from './tool-result.js';

const SECRET = 'a-secret-of-some-length';
const MAXIMUM = 60_000;
const content = [{ type: 'text', text: `said ${SECRET}` }];

/** Fails the test when anybody looks at one of its members. */
function unseen(count: number): object {
  const members = Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, index]));
  return new Proxy(members, {
    get: (_target, name) => {
      throw new Error(`looked at ${String(name)}`);
    },
  });
}

describe('a structuredContent of 700,000 members', () => {
  it('is left out unseen, and the rest is masked and says so', async () => {
    const raw = { content, structuredContent: unseen(700_000) };
    const read = readToolResult(raw, MAXIMUM);
    const { result, protection } = await protectResult(read.result, new Redactor([SECRET]));
    const cut = truncateResult(result, MAXIMUM, read.leftOut);
    expect(cut.result).toEqual({
      isError: false,
      content: [
        { type: 'text', text: 'said [redacted]' },
        { type: 'text', text: expect.stringMatching(/^\[structuredContent was left out: .* 60000 characters/) },
      ],
    });
    expect(cut.truncated).toEqual({ originalChars: 15, keptChars: 15, structuredContentDropped: true });
    expect(protection).toMatchObject({ status: 'redacted', redacted: 1 });
  });

  it('does not matter where the protocol has no place for it', () => {
    const read = readToolResult({ content, extra: unseen(700_000) }, MAXIMUM);
    expect(read).toEqual({ result: { isError: false, content }, leftOut: { structuredContent: false } });
  });
});

describe('a result', () => {
  it('keeps a structuredContent within the bound', () => {
    const structuredContent = { rows: Array.from({ length: 1_000 }, (_, index) => ({ id: index })) };
    expect(readToolResult({ structuredContent }, MAXIMUM)).toEqual({
      result: { isError: false, content: [], structuredContent },
      leftOut: { structuredContent: false },
    });
  });

  it.each(['content', 'structuredContent'])('with a %s nested too deeply is none', (member) => {
    const lists = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels));
    const nested = (levels: number): unknown =>
      member === 'content' ? [{ type: 'text', text: 'said', extra: lists(levels - 2) }] : lists(levels);
    expect(() => readToolResult({ [member]: nested(499) }, MAXIMUM)).not.toThrow();
    for (const levels of [500, 5_000]) {
      expect(() => readToolResult({ [member]: nested(levels) }, MAXIMUM)).toThrow(CallFailure);
    }
  });
});
