import { CallFailure } from './call-failure.js';
import type { ContentBlock } from './menu.answers.js';
import { fitOf } from './result-fit.js';

/** Deeper results could not be written as JSON again. */
const MAX_DEPTH = 500;

/** A provider's answer to `tools/call`, as far as it has the right shape. */
export interface ToolResult {
  isError: boolean;
  content: ContentBlock[];
  structuredContent?: unknown;
}

/** What was read of an answer. */
export interface ReadResult {
  result: ToolResult;
  /** structuredContent was over the bound by far, and is left out before anybody walks through it. */
  structuredContentDropped: boolean;
}

/**
 * Reads a result as leniently as a model can still use it: missing or null content is empty, a block that is no block
 * becomes a mark, a structuredContent of more than `maximum` characters is left out. Errors: `CallFailure`
 * mcp_protocol_error when it is no object at all, or nested too deeply to be handled.
 */
export function readToolResult(raw: unknown, maximum: number): ReadResult {
  if (!isObject(raw)) throw notAResult();
  const { content, structuredContent, isError } = raw;
  // what is left of the nesting inside of the result
  const levels = MAX_DEPTH - 1;
  const fit = fitOf(structuredContent, { characters: maximum, levels });
  if (fit === 'too_deep' || fitOf(content, { characters: Infinity, levels }) === 'too_deep') throw notAResult();
  const structuredContentDropped = fit === 'too_large';
  const result: ToolResult = {
    isError: isError === true,
    content: Array.isArray(content) ? content.map(readBlock) : [],
    ...(structuredContent === undefined || structuredContentDropped ? {} : { structuredContent }),
  };
  return { result, structuredContentDropped };
}

/** The text of a result, for the message of a failed tool. */
export function textOf(content: readonly ContentBlock[]): string {
  return content
    .filter((block) => block.type === 'text' && typeof block.text === 'string')
    .map((block) => String(block.text))
    .join('\n');
}

function notAResult(): CallFailure {
  return new CallFailure('mcp_protocol_error', 'The provider answered with something that is no tool result.', {
    sent: 'yes',
    hint: 'The provider does not follow the protocol here; tell the user.',
  });
}

function readBlock(block: unknown): ContentBlock {
  if (isObject(block) && typeof block.type === 'string') return block as ContentBlock;
  return { type: 'text', text: '[a content block without a type was left out]' };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
