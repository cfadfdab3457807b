import { measureJson } from '../catalog/json-measure.js';
import { CallFailure } from './call-failure.js';
import type { ContentBlock } from './menu.answers.js';

/** Deeper results could not be written as JSON again. */
const MAX_DEPTH = 500;

/** A provider's answer to `tools/call`, as far as it has the right shape. */
export interface ToolResult {
  isError: boolean;
  content: ContentBlock[];
  structuredContent?: unknown;
}

/**
 * Reads a result as leniently as a model can still use it: missing or null content is empty, a block that is no block
 * becomes a mark. Errors: `CallFailure` mcp_protocol_error when it is no object at all, or nested too
 * deeply to be handled.
 */
export function readToolResult(raw: unknown): ToolResult {
  if (!isObject(raw) || measureJson(raw).depth > MAX_DEPTH) {
    throw new CallFailure('mcp_protocol_error', 'The provider answered with something that is no tool result.', {
      sent: 'yes',
      hint: 'The provider does not follow the protocol here; tell the user.',
    });
  }
  const { content, structuredContent, isError } = raw;
  return {
    isError: isError === true,
    content: Array.isArray(content) ? content.map(readBlock) : [],
    ...(structuredContent === undefined ? {} : { structuredContent }),
  };
}

/** The text of a result, for the message of a failed tool. */
export function textOf(content: readonly ContentBlock[]): string {
  return content
    .filter((block) => block.type === 'text' && typeof block.text === 'string')
    .map((block) => String(block.text))
    .join('\n');
}

function readBlock(block: unknown): ContentBlock {
  if (isObject(block) && typeof block.type === 'string') return block as ContentBlock;
  return { type: 'text', text: '[a content block without a type was left out]' };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
