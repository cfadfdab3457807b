import { Injectable } from '@nestjs/common';
import {
  ProtocolError,
  ProtocolErrorCode,
  type CallToolResult,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { Logger } from '../logger.js';
import { toProblem } from '../problem.filter.js';
import type { McpExchange } from './mcp.exchange.js';
import { McpInFlight } from './mcp.in-flight.js';
import { toToolResult } from './mcp.results.js';
import type { MenuProgress } from './menu.caller.js';
import { menuToolNames, type MenuToolName } from './menu.definitions.js';
import { Menu } from './menu.js';

/** `tools/call` of the `/mcp` endpoint: hands the call to the menu and its answer back as a tool result. */
@Injectable()
export class McpToolCalls {
  constructor(
    private readonly menu: Menu,
    private readonly inFlight: McpInFlight,
    private readonly logger: Logger,
  ) {}

  /** Errors: `ProtocolError` for an unknown tool (-32602) and for problems of this server (-32603). */
  async use(exchange: McpExchange, context: ServerContext): Promise<CallToolResult> {
    const { era, principal, sessionId, message, controller } = exchange;
    const { agentId } = principal;
    const tool = menuTool(message.params?.['name']);
    const key = era === 'legacy' ? { agentId, sessionId, requestId: message.id } : undefined;
    const leave = this.inFlight.enter(agentId, key, controller);
    try {
      const onProgress = exchange.readsEvents ? progressSender(exchange, context) : undefined;
      const answer = await this.menu.use(tool, message.params?.['arguments'], {
        principal,
        agentId,
        requestId: exchange.requestId,
        signal: controller.signal,
        ...(onProgress === undefined ? {} : { onProgress }),
      });
      return toToolResult(answer, era);
    } catch (error) {
      throw this.protocolError(error, exchange.requestId);
    } finally {
      leave();
    }
  }

  private protocolError(error: unknown, requestId: string): ProtocolError {
    const problem = toProblem(error);
    if (problem.status >= 500) this.logger.error({ requestId, code: problem.code, error }, 'menu call failed');
    return new ProtocolError(ProtocolErrorCode.InternalError, problem.detail, { code: problem.code, requestId });
  }
}

function menuTool(name: unknown): MenuToolName {
  const tool = menuToolNames.find((known) => known === name);
  if (tool !== undefined) return tool;
  const shown = JSON.stringify(String(name).slice(0, 200));
  throw new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `Unknown tool ${shown}. The tools here are ${menuToolNames.join(', ')}; all others are called through mcp_call.`,
  );
}

/** Progress that waits for a client that does not read; more is dropped. */
const MAX_AHEAD = 100;

/** Undefined when the client did not ask for progress. */
function progressSender(
  { isBehind }: McpExchange,
  { mcpReq }: ServerContext,
): ((progress: MenuProgress) => void) | undefined {
  const token = mcpReq._meta?.progressToken;
  if (token === undefined) return undefined;
  let ahead = 0;
  return ({ progress, total, message }) => {
    ahead = isBehind() ? ahead + 1 : 0;
    if (ahead > MAX_AHEAD) return;
    const params = { progressToken: token, progress, total, message };
    // Lost progress changes nothing, and a client that left is noticed elsewhere.
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined);
  };
}
