import type { CallToolResult } from '@modelcontextprotocol/server';
import { readableBlocks, textBlock } from './mcp.blocks.js';
import { isRecord } from './mcp.message.js';
import type { CallReceipt, ContentBlock, MenuAnswer, MenuError } from './menu.answers.js';

/** `modern` is protocol revision 2026-07-28, `legacy` are those with an `initialize` handshake. */
export type McpEra = 'modern' | 'legacy';

const NO_CONTENT = 'The tool answered without any content.';

/**
 * The menu's answer as a tool result; pure. What fails has `isError` and its `error` object as the first text block in
 * compact JSON, because models see neither `_meta` nor, with many clients, `structuredContent`.
 */
export function toToolResult(answer: MenuAnswer, era: McpEra): CallToolResult {
  if (answer.tool === 'mcp_call') return receiptResult(answer.answer, era);
  if ('error' in answer.answer) return result([errorBlock(answer.answer.error)], true);
  return result([textBlock(JSON.stringify(answer.answer))], false);
}

function receiptResult(receipt: CallReceipt, era: McpEra): CallToolResult {
  const content = receiptContent(receipt, era);
  const { structuredContent } = receipt;
  // Before revision 2026-07-28 the schema allows objects only, and clients refuse the whole result otherwise.
  const carried = structuredContent !== undefined && (era === 'modern' || isRecord(structuredContent));
  return {
    ...result(content, !receipt.ok),
    ...(carried ? { structuredContent } : {}),
    _meta: { 'warren/callId': receipt.callId, 'warren/protection': receipt.protection },
  };
}

function receiptContent(receipt: CallReceipt, era: McpEra): ContentBlock[] {
  const own = receipt.error === undefined ? [] : [errorBlock(receipt.error)];
  const content = [...own, ...readableBlocks(receipt.content)];
  const { structuredContent } = receipt;
  if (structuredContent !== undefined) {
    const text = JSON.stringify(structuredContent);
    const shown = content.some((block) => block.type === 'text' && block['text'] === text);
    const needed = receipt.content.length === 0 || (era === 'legacy' && !isRecord(structuredContent));
    if (needed && !shown) content.push(textBlock(text));
  }
  return content.length === 0 ? [textBlock(NO_CONTENT)] : content;
}

function errorBlock(error: MenuError): ContentBlock {
  return textBlock(JSON.stringify(error));
}

function result(content: ContentBlock[], isError: boolean): CallToolResult {
  return { content: content as CallToolResult['content'], ...(isError ? { isError } : {}) };
}
