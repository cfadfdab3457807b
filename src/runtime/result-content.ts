import type { ContentBlock } from './menu.answers.js';
import { sizeOf } from './result-fit.js';

/** More blocks are more than a model reads; the last of them come from the end. */
const MAX_BLOCKS = 1_000;
const MAX_TAIL_BLOCKS = 250;
/** Values in all blocks together: each costs time to mask, however short it is. Real blocks have ten or so. */
const MAX_VALUES = 50_000;

/** Content blocks that were left out before anybody walked through them. */
export interface LeftOutBlocks {
  count: number;
  /** How many there were. */
  of: number;
  /** Characters of their texts. */
  chars: number;
  /** Where the first of them stood: an index into what is kept. */
  at: number;
}

/**
 * The content blocks of a result, bounded: 1,000 blocks from head and tail, and of these as many as hold 50,000 values
 * together. Whatever is no block is one mark with its count. 'too_deep' when a block is nested deeper than `levels`.
 */
export function readContent(
  raw: unknown,
  levels: number,
): { content: ContentBlock[]; leftOut?: LeftOutBlocks } | 'too_deep' {
  const blocks = blocksOf(raw);
  const tailStart = Math.max(blocks.length - MAX_TAIL_BLOCKS, 0);
  const headEnd = blocks.length > MAX_BLOCKS ? MAX_BLOCKS - MAX_TAIL_BLOCKS : tailStart;
  const content: ContentBlock[] = [];
  let leftOut: LeftOutBlocks | undefined;
  let values = MAX_VALUES;
  for (let index = 0; index < blocks.length; index += 1) {
    const block = blocks[index] as ContentBlock;
    const size = index >= headEnd && index < tailStart ? 'too_large' : sizeOf(block, { values, levels });
    if (size === 'too_deep') return size;
    if (size === 'too_large') {
      leftOut ??= { count: 0, of: blocks.length, chars: 0, at: content.length };
      leftOut.count += 1;
      leftOut.chars += isText(block) ? block.text.length : 0;
    } else {
      values -= size;
      content.push(block);
    }
  }
  return { content, ...(leftOut === undefined ? {} : { leftOut }) };
}

export type TextBlock = ContentBlock & { text: string };

export function isText(block: ContentBlock): block is TextBlock {
  return block.type === 'text' && typeof block.text === 'string';
}

/** What is no block is one mark together, where the first of it stood. */
function blocksOf(raw: unknown): ContentBlock[] {
  if (!Array.isArray(raw)) return [];
  const blocks: ContentBlock[] = [];
  const foreign = { type: 'text', text: '' };
  let count = 0;
  for (const entry of raw as unknown[]) {
    if (isBlock(entry)) {
      blocks.push(entry);
    } else {
      count += 1;
      if (count === 1) blocks.push(foreign);
    }
  }
  foreign.text =
    count === 1
      ? '[a content block without a type was left out]'
      : `[${count} content blocks without a type were left out]`;
  return blocks;
}

function isBlock(entry: unknown): entry is ContentBlock {
  return typeof entry === 'object' && entry !== null && 'type' in entry && typeof entry.type === 'string';
}
