import { describe, expect, it } from '@jest/globals';
import type { ContentBlock } from './menu.answers.js';
import { readContent } from './result-content.js';

const LEVELS = 100;
const texts = (count: number): ContentBlock[] =>
  Array.from({ length: count }, (_, index) => ({ type: 'text', text: `t${index}` }));

/** Fails the test when anybody looks at more than what kind of block it is. */
function unseen(text: string): ContentBlock {
  return new Proxy(
    { type: 'text', text },
    {
      get: (target, name, receiver): unknown => Reflect.get(target, name, receiver),
      ownKeys: () => {
        throw new Error('walked through');
      },
    },
  );
}

describe('readContent', () => {
  it.each([[undefined], [null], ['text'], [{}], [[]]])('reads %j as nothing', (raw) => {
    expect(readContent(raw, LEVELS)).toEqual({ content: [] });
  });

  it('keeps a thousand blocks as they are', () => {
    const blocks = texts(1_000);
    expect(readContent(blocks, LEVELS)).toEqual({ content: blocks });
  });

  it('keeps head and tail of more, and walks through none of the rest', () => {
    const blocks = texts(3_000).map((block, index) => (index < 750 || index >= 2_750 ? block : unseen('four')));
    expect(readContent(blocks, LEVELS)).toEqual({
      content: [...blocks.slice(0, 750), ...blocks.slice(-250)],
      leftOut: { count: 2_000, of: 3_000, chars: 8_000, at: 750 },
    });
  });

  it('counts what is no block in one mark, where the first of it stood', () => {
    const [first, second] = texts(2);
    const mark = (text: string): ContentBlock => ({ type: 'text', text });
    const one = [first, 0, second];
    expect(readContent(one, LEVELS)).toEqual({
      content: [first, mark('[a content block without a type was left out]'), second],
    });
    const many = [first, 0, null, ['x'], second, { text: 'untyped' }, { type: 7 }];
    expect(readContent(many, LEVELS)).toEqual({
      content: [first, mark('[5 content blocks without a type were left out]'), second],
    });
    const zeros = Array.from({ length: 1_000_000 }, () => 0);
    expect(readContent(zeros, LEVELS)).toEqual({
      content: [mark('[1000000 content blocks without a type were left out]')],
    });
  });

  it('leaves out a block that holds too many values, and what it has no room for', () => {
    const extra = (count: number): ContentBlock => ({
      type: 'text',
      text: 'abc',
      extra: Array.from({ length: count }),
    });
    const [first, second] = texts(2);
    expect(readContent([first, extra(60_000), second], LEVELS)).toEqual({
      content: [first, second],
      leftOut: { count: 1, of: 3, chars: 3, at: 1 },
    });
    const room = extra(40_000);
    expect(readContent([room, extra(20_000), extra(20_000), first], LEVELS)).toEqual({
      content: [room, first],
      leftOut: { count: 2, of: 4, chars: 6, at: 1 },
    });
  });

  it('says when a block is nested too deeply', () => {
    expect(readContent([{ type: 'x', a: [[]] }], 3)).toMatchObject({ content: [{}] });
    expect(readContent([{ type: 'x', a: [[]] }], 2)).toBe('too_deep');
  });
});
