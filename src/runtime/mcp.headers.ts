import { classifyInboundRequest, SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server';
import type { IncomingHttpHeaders } from 'node:http';
import type { McpReadable } from './mcp.message.js';
import type { McpEra } from './mcp.results.js';

/** Who is to serve a message, or why nobody can. */
export type McpRoute = { era: McpEra } | { status: number; code: number; message: string; data?: unknown };

/** Finds the era of a message from what it claims in its body and headers; a contradiction is refused. */
export function routeOf({ kind, message }: McpReadable, headers: IncomingHttpHeaders): McpRoute {
  const version = header(headers, 'mcp-protocol-version');
  const found = classifyInboundRequest({
    httpMethod: 'POST',
    body: message,
    ...given('protocolVersionHeader', version),
    ...given('mcpMethodHeader', header(headers, 'mcp-method')),
    ...given('mcpNameHeader', header(headers, 'mcp-name')),
  });
  if (found.kind === 'reject') {
    const { httpStatus: status, code, message: reason, data } = found;
    return { status, code, message: reason, ...(data === undefined ? {} : { data }) };
  }
  if (found.kind === 'modern') return { era: 'modern' };
  const isHandshake = kind === 'request' && message.method === 'initialize';
  if (isHandshake || version === undefined || SUPPORTED_PROTOCOL_VERSIONS.includes(version)) return { era: 'legacy' };
  return {
    status: 400,
    code: -32_000,
    message: `Unsupported MCP-Protocol-Version header; after a handshake it is one of ${SUPPORTED_PROTOCOL_VERSIONS.join(', ')}.`,
  };
}

/** The session id as the client sent it; empty when it sent none. Never checked: sessions are not stored. */
export function sessionIdOf(headers: IncomingHttpHeaders): string {
  return header(headers, 'mcp-session-id') ?? '';
}

/**
 * The request as the SDK takes it, without its body (handed over parsed) and with no header but the protocol's own: the
 * bearer token is nobody's business behind this point.
 */
export function toWebRequest(headers: IncomingHttpHeaders, signal: AbortSignal): Request {
  const own = Object.keys(headers).filter((name) => name.startsWith('mcp-'));
  return new Request('http://localhost/mcp', {
    method: 'POST',
    headers: [
      ['content-type', 'application/json'],
      ...own.map((name): [string, string] => [name, header(headers, name) ?? '']),
    ],
    signal,
  });
}

function header(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value?.trim();
}

function given<Name extends string>(name: Name, value: string | undefined): { [key in Name]?: string } {
  return value === undefined ? {} : ({ [name]: value } as { [key in Name]?: string });
}
