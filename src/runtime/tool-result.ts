import { CallFailure } from './call-failure.js';
import type { ContentBlock } from './menu.answers.js';
import { isText, readContent, type LeftOutBlocks } from './result-content.js';
import { fitOf } from './result-fit.js';

/** Deeper results could not be written as JSON again. */
const MAX_DEPTH = 500;

/** A provider's answer to `tools/call`, as far as it has the right shape. */
export interface ToolResult {
  isError: boolean;
  content: ContentBlock[];
  structuredContent?: unknown;
}

/** What is out of all bounds, and is left out before anybody walks through it. */
export interface LeftOut {
  structuredContent: boolean;
  blocks?: LeftOutBlocks;
}

/** What was read of an answer. */
export interface ReadResult {
  result: ToolResult;
  leftOut: LeftOut;
}

/**
 * Reads a result as leniently as a model can still use it: missing or null content is empty, blocks that are no blocks
 * become a mark, a structuredContent of more than `maximum` characters is left out, and so are blocks beyond a count. Errors: `CallFailure`
 * mcp_protocol_error when it is no object at all, or nested too deeply to be handled.
 */
export function readToolResult(raw: unknown, maximum: number): ReadResult {
  if (!isObject(raw)) throw notAResult();
  const { content, structuredContent, isError } = raw;
  // what is left of the nesting inside of the result
  const levels = MAX_DEPTH - 1;
  const fit = fitOf(structuredContent, { characters: maximum, levels });
  // a block is one level inside of the content
  const read = readContent(content, levels - 1);
  if (fit === 'too_deep' || read === 'too_deep') throw notAResult();
  const isDropped = fit === 'too_large';
  const result: ToolResult = {
    isError: isError === true,
    content: read.content,
    ...(structuredContent === undefined || isDropped ? {} : { structuredContent }),
  };
  const blocks = read.leftOut;
  return { result, leftOut: { structuredContent: isDropped, ...(blocks === undefined ? {} : { blocks }) } };
}

/** The text of a result, for the message of a failed tool. */
export function textOf(content: readonly ContentBlock[]): string {
  return content
    .filter(isText)
    .map(({ text }) => text)
    .join('\n');
}

function notAResult(): CallFailure {
  return new CallFailure('mcp_protocol_error', 'The provider answered with something that is no tool result.', {
    sent: 'yes',
    hint: 'The provider does not follow the protocol here; tell the user.',
  });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
