import type { CallReceipt, ContentBlock } from './menu.answers.js';
import { isText } from './result-content.js';
import type { LeftOut, ToolResult } from './tool-result.js';

type Truncation = NonNullable<CallReceipt['truncated']>;

/** Of the kept text, how much comes from the end. */
const TAIL_SHARE = 0.25;

const ASK_FOR_LESS = 'Ask for less, e.g. fewer items, a smaller page or a filter.';

/**
 * Cuts a result down to what a model can read: all text blocks together keep head and tail within `maximum` characters,
 * with a visible mark; a structuredContent over it is dropped with a mark. Runs after redaction, so that no secret is
 * cut into a half that no longer matches; what is out of all bounds was left out before, which `leftOut` tells, and
 * gets its marks here.
 */
export function truncateResult(
  result: ToolResult,
  maximum: number,
  leftOut: LeftOut = { structuredContent: false },
): { result: ToolResult; truncated?: Truncation } {
  const { blocks } = leftOut;
  const chars = result.content.filter(isText).reduce((sum, block) => sum + block.text.length, 0);
  const structuredChars = result.structuredContent === undefined ? 0 : JSON.stringify(result.structuredContent).length;
  const dropStructured = leftOut.structuredContent || structuredChars > maximum;
  if (chars <= maximum && !dropStructured && blocks === undefined) return { result };

  const originalChars = chars + (blocks?.chars ?? 0);
  const pieces: Piece[] = [...result.content];
  if (blocks !== undefined) pieces.splice(blocks.at, 0, markOf(`${blocks.count} of ${blocks.of} content blocks`));
  const kept = chars <= maximum ? pieces : cutTexts(pieces, { chars, originalChars, maximum });
  const content = kept.map((piece) => (typeof piece === 'string' ? { type: 'text', text: piece } : piece));
  if (dropStructured) {
    content.push({
      type: 'text',
      text: `[structuredContent was left out: it is over the limit of ${maximum} characters. ${ASK_FOR_LESS}]`,
    });
  }
  const { structuredContent, ...rest } = result;
  return {
    result: { ...rest, content, ...(dropStructured || structuredContent === undefined ? {} : { structuredContent }) },
    truncated: {
      originalChars,
      keptChars: Math.min(chars, maximum),
      ...(blocks === undefined ? {} : { contentBlocksDropped: blocks.count }),
      ...(dropStructured ? { structuredContentDropped: true as const } : {}),
    },
  };
}

/** A block, or a mark, which is not counted as text. */
type Piece = ContentBlock | string;

function markOf(missing: string): string {
  return `[… ${missing} left out. ${ASK_FOR_LESS} …]`;
}

/** Blocks are seen as one long text: characters before `headEnd` and from `tailStart` on stay. */
function cutTexts(
  pieces: readonly Piece[],
  { chars, originalChars, maximum }: { chars: number; originalChars: number; maximum: number },
): Piece[] {
  const tailStart = chars - Math.floor(maximum * TAIL_SHARE);
  const headEnd = maximum - (chars - tailStart);
  const mark = `\n${markOf(`${originalChars - maximum} of ${originalChars} characters`)}\n`;
  const kept: Piece[] = [];
  let position = 0;
  let marked = false;
  for (const block of pieces) {
    if (typeof block === 'string' || !isText(block)) {
      kept.push(block);
      continue;
    }
    const start = position;
    position += block.text.length;
    const head = sliceWhole(block.text, 0, headEnd - start);
    const tail = sliceWhole(block.text, tailStart - start, block.text.length);
    const cutHere = position > headEnd && !marked;
    const text =
      position <= headEnd ? block.text : start >= tailStart ? block.text : head + (cutHere ? mark : '') + tail;
    if (cutHere) marked = true;
    if (text !== '') kept.push({ ...block, text });
  }
  return kept;
}

/** A slice that does not cut a surrogate pair in two. */
function sliceWhole(text: string, from: number, to: number): string {
  let start = Math.max(0, from);
  let end = Math.max(start, Math.min(text.length, to));
  if (isLowSurrogate(text, start)) start += 1;
  if (end > start && isLowSurrogate(text, end)) end -= 1;
  return text.slice(start, end);
}

function isLowSurrogate(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  return code >= 0xdc00 && code <= 0xdfff;
}
