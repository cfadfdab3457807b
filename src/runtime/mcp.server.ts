import {
  McpServer,
  PerRequestHTTPServerTransport,
  SdkError,
  SdkErrorCode,
  type Tool,
} from '@modelcontextprotocol/server';
import { version } from '../version.js';
import type { McpExchange } from './mcp.exchange.js';
import { isRecord, type McpRequest } from './mcp.message.js';
import { ABORTED } from './mcp.reply.js';
import type { McpToolCalls } from './mcp.tool-calls.js';
import { menuTools } from './menu.definitions.js';

const INSTRUCTIONS =
  'Start with mcp_capabilities: say in `query` what you want to do, and the best tools come back with their input schemas. ' +
  'Then use mcp_call, with `provider` and `tool` copied exactly and all parameters inside `arguments`. ' +
  'A tool with `granted: false` is not yours to use: tell the user instead.';

/** The menu changes with a new Warren version only; private, because the answer belongs to a bearer token. */
const CACHE = { ttlMs: 3_600_000, cacheScope: 'private' } as const;

/** The SDK would build a JSON Schema compiler for each server; none of ours has anything to compile. */
const NO_COMPILER = {
  getValidator(): never {
    throw new Error('This server validates no schema.');
  },
};

/** The server of one exchange, the same for both protocol eras: three tools, and nothing that outlives the answer. */
export function buildMcpServer(exchange: McpExchange, calls: McpToolCalls): McpServer {
  const mcp = new McpServer(
    { name: 'warren', title: 'Warren', version },
    {
      capabilities: { tools: { listChanged: false } },
      instructions: INSTRUCTIONS,
      cacheHints: { 'tools/list': CACHE, 'server/discover': CACHE },
      jsonSchemaValidator: NO_COMPILER,
    },
  );
  mcp.server.setRequestHandler('tools/list', () => ({ tools: [...menuTools] as Tool[] }));
  mcp.server.setRequestHandler('tools/call', (_request, context) => calls.use(exchange, context));
  return mcp;
}

/** Serves one request of a revision before 2026-07-28; `request` carries the signal. */
export async function serveLegacy(
  mcp: McpServer,
  message: McpRequest,
  request: Request,
  keepAliveMs: number,
): Promise<Response> {
  const transport = new PerRequestHTTPServerTransport({ classification: { era: 'legacy' }, keepAliveMs });
  await mcp.connect(transport);
  try {
    const response = await transport.handleMessage(message, { request });
    // These revisions answer errors in-band: a 404 would mean to the client that its session is gone.
    return response.status === 200 ? response : new Response(response.body, { headers: response.headers });
  } catch (error) {
    await mcp.close();
    if (error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed) {
      return new Response(null, { status: ABORTED });
    }
    throw error;
  }
}

/**
 * The request as the SDK may see it. It refuses a tool call whose arguments are no object before any handler runs; the
 * menu answers those itself, in words a model can act on, from the exchange's own message.
 */
export function forTheSdk({ message }: McpExchange): McpRequest {
  const { method, params } = message;
  if (method !== 'tools/call' || params === undefined || isRecord(params['arguments'])) return message;
  return { ...message, params: { ...params, arguments: {} } };
}
