import type { CallReceipt, ContentBlock } from './menu.answers.js';
import type { ToolResult } from './tool-result.js';

type Truncation = NonNullable<CallReceipt['truncated']>;

/** Of the kept text, how much comes from the end. */
const TAIL_SHARE = 0.25;

/**
 * Cuts a result down to what a model can read: all text blocks together keep head and tail within `maximum` characters,
 * with a visible mark; a structuredContent over it is dropped with a mark. Runs after redaction, so that no secret is
 * cut into a half that no longer matches; a structuredContent that is out of all bounds was left out before, which
 * `isDropped` tells.
 */
export function truncateResult(
  result: ToolResult,
  maximum: number,
  isDropped = false,
): { result: ToolResult; truncated?: Truncation } {
  const texts = result.content.filter(isText);
  const originalChars = texts.reduce((sum, block) => sum + block.text.length, 0);
  const structuredChars = result.structuredContent === undefined ? 0 : JSON.stringify(result.structuredContent).length;
  const dropStructured = isDropped || structuredChars > maximum;
  if (originalChars <= maximum && !dropStructured) return { result };

  const content = originalChars <= maximum ? [...result.content] : cutTexts(result.content, originalChars, maximum);
  if (dropStructured) {
    content.push({
      type: 'text',
      text: `[structuredContent was left out: it is over the limit of ${maximum} characters. Ask for less, e.g. fewer items, a smaller page or a filter.]`,
    });
  }
  const { structuredContent, ...rest } = result;
  return {
    result: { ...rest, content, ...(dropStructured || structuredContent === undefined ? {} : { structuredContent }) },
    truncated: {
      originalChars,
      keptChars: Math.min(originalChars, maximum),
      ...(dropStructured ? { structuredContentDropped: true as const } : {}),
    },
  };
}

type TextBlock = ContentBlock & { text: string };

function isText(block: ContentBlock): block is TextBlock {
  return block.type === 'text' && typeof block.text === 'string';
}

/** Blocks are seen as one long text: characters before `headEnd` and from `tailStart` on stay. */
function cutTexts(content: readonly ContentBlock[], total: number, maximum: number): ContentBlock[] {
  const tailStart = total - Math.floor(maximum * TAIL_SHARE);
  const headEnd = maximum - (total - tailStart);
  const mark = `\n[… ${total - maximum} of ${total} characters left out. Ask for less, e.g. fewer items, a smaller page or a filter. …]\n`;
  const kept: ContentBlock[] = [];
  let position = 0;
  let marked = false;
  for (const block of content) {
    if (!isText(block)) {
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
