import type { IncomingHttpHeaders } from 'node:http';
import { isRecord } from '../../src/runtime/mcp.message.js';

/** One POST: what decides where it goes. */
export interface Posted {
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** Tools behind the menu that a client may name as if they stood in it. */
export interface ToolsBehind {
  provider: string;
  tools: readonly string[];
}

/**
 * The call of one of these tools as the same call through `mcp_call`, which is how an agent reaches it; anything else as it
 * came. The header that repeats the tool's name follows if it did repeat it.
 */
export function readdressed({ headers, body }: Posted, { provider, tools }: ToolsBehind): Posted {
  const message = read(body);
  if (!isRecord(message) || message['method'] !== 'tools/call' || !isRecord(message['params']))
    return { headers, body };
  const { name, arguments: given } = message['params'];
  if (typeof name !== 'string' || !tools.includes(name)) return { headers, body };
  const params = { ...message['params'], name: 'mcp_call', arguments: { provider, tool: name, arguments: given } };
  return {
    headers: headers['mcp-name'] === name ? { ...headers, 'mcp-name': 'mcp_call' } : headers,
    body: Buffer.from(JSON.stringify({ ...message, params })),
  };
}

function read(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    // what is no JSON is the endpoint's to refuse
    return undefined;
  }
}
