import { callCodes, type CallCode } from '../src/runtime/call-codes.js';
import type { MenuError } from '../src/runtime/menu.answers.js';
import type { Outcome } from './cases.file.js';
import type { ToolAnswer } from './support/agent-clients.js';

/** A call as the agent's model sees it. */
export interface SeenCall {
  outcome: Outcome;
  text: string;
  ms: number;
  error?: MenuError;
}

const OUTCOMES: Record<CallCode, Outcome> = {
  mcp_provider_not_available: 'refused',
  mcp_provider_ambiguous: 'refused',
  mcp_tool_not_found: 'refused',
  mcp_tool_not_granted: 'refused',
  mcp_arguments_invalid: 'refused',
  handle_invalid: 'refused',
  rate_limited: 'refused',
  busy: 'refused',
  mcp_call_timeout: 'timeout',
  mcp_provider_unreachable: 'provider_error',
  mcp_auth_required: 'provider_error',
  mcp_call_cancelled: 'provider_error',
  mcp_call_interrupted: 'provider_error',
  mcp_tool_failed: 'provider_error',
  mcp_input_required: 'provider_error',
  mcp_response_too_large: 'provider_error',
  mcp_response_withheld: 'provider_error',
  mcp_protocol_error: 'provider_error',
};

/**
 * Reads the answer of `/mcp`, because its blocks are what a client hands to a model: the text blocks as they are, and a
 * mark for what is no text, since clients give images and audio to a model as such and never as base64 in its text.
 */
export function readAnswer(answer: ToolAnswer, ms: number): SeenCall {
  const text = answer.content.map(readable).join('\n');
  if (answer.isError !== true) return { outcome: 'ok', text, ms };
  // what fails begins with the error in JSON
  const error = JSON.parse(answer.content[0]?.text ?? 'null') as MenuError;
  if (!Object.hasOwn(callCodes, error.code)) throw new Error(`there is no code ${error.code}`);
  // only a tool that failed by itself has something to say beside the error
  const toolSpoke = error.code === 'mcp_tool_failed' && answer.content.length > 1;
  return { outcome: toolSpoke ? 'tool_error' : OUTCOMES[error.code], text, ms, error };
}

function readable(block: ToolAnswer['content'][number]): string {
  const { type, text, mimeType, uri, name, resource } = block as Record<string, any>;
  switch (type) {
    case 'text':
      return String(text);
    case 'resource':
      return typeof resource.text === 'string' ? resource.text : `[${String(resource.mimeType)} ${resource.uri}]`;
    case 'resource_link':
      return `[${String(name)}](${String(uri)})`;
    default:
      return `[${type} ${String(mimeType)}]`;
  }
}
