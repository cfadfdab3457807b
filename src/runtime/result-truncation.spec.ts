import { describe, expect, it } from '@jest/globals';
import { truncateResult } from './result-truncation.js';
import { textOf, type ToolResult } from './tool-result.js';

const result = (...texts: string[]): ToolResult => ({
  isError: false,
  content: texts.map((text) => ({ type: 'text', text })),
});

describe('truncateResult', () => {
  it('leaves what fits as it is', () => {
    const small = result('abc', 'def');
    expect(truncateResult(small, 6)).toEqual({ result: small });
  });

  it('keeps head and tail of one long text, with a visible mark', () => {
    const { result: cut, truncated } = truncateResult(result(`${'h'.repeat(2_000)}${'t'.repeat(2_000)}`), 1_000);
    const text = textOf(cut.content);
    expect(text).toMatch(/^h{750}\n\[… 3000 of 4000 characters left out\. Ask for less[^\]]*\]\nt{250}$/);
    expect(truncated).toEqual({ originalChars: 4_000, keptChars: 1_000 });
  });

  it('counts text blocks together and marks once', () => {
    const { result: cut } = truncateResult(
      result('a'.repeat(600), 'b'.repeat(600), 'c'.repeat(600), 'd'.repeat(600)),
      1_000,
    );
    const text = textOf(cut.content);
    expect(text.match(/characters left out/g)).toHaveLength(1);
    expect(text.startsWith('a'.repeat(600))).toBe(true);
    expect(text.endsWith('d'.repeat(250))).toBe(true);
    expect(text.replaceAll(/\n\[…[^\]]*\]\n/g, '').replaceAll('\n', '')).toHaveLength(1_000);
  });

  it('keeps other blocks and drops an over-long structuredContent with a mark', () => {
    const image = { type: 'image', data: 'x'.repeat(5_000), mimeType: 'image/png' };
    const big = { isError: false, content: [image], structuredContent: { rows: 'y'.repeat(2_000) } };
    const { result: cut, truncated } = truncateResult(big, 1_000);
    expect(cut.content[0]).toEqual(image);
    expect(textOf(cut.content)).toContain('structuredContent');
    expect(cut).not.toHaveProperty('structuredContent');
    expect(truncated).toMatchObject({ structuredContentDropped: true });
  });

  it('marks where content blocks were left out, without counting the mark', () => {
    const blocks = { count: 7, of: 9, chars: 70, at: 1 };
    const leftOut = { structuredContent: false, blocks };
    const mark = expect.stringMatching(/^\[… 7 of 9 content blocks left out\. Ask for less.* …\]$/);
    expect(truncateResult(result('head', 'tail'), 1_000, leftOut)).toEqual({
      result: result('head', mark as unknown as string, 'tail'),
      truncated: { originalChars: 78, keptChars: 8, contentBlocksDropped: 7 },
    });
    const cut = truncateResult(result('h'.repeat(1_000), 't'.repeat(1_000)), 1_000, leftOut);
    expect(cut.result.content.map(({ text }) => text)).toEqual([
      expect.stringMatching(/^h{750}\n\[… 1070 of 2070 characters left out\./),
      mark,
      't'.repeat(250),
    ]);
    expect(cut.truncated).toEqual({ originalChars: 2_070, keptChars: 1_000, contentBlocksDropped: 7 });
  });

  it('does not cut a surrogate pair in two', () => {
    for (const length of [1_000, 1_001, 1_002, 1_003]) {
      const { result: cut } = truncateResult(result('🦊'.repeat(2_000)), length);
      expect(textOf(cut.content).isWellFormed()).toBe(true);
    }
  });
});
