import type { Principal } from '../principal.js';
import type { McpRequest } from './mcp.message.js';
import type { McpEra } from './mcp.results.js';

export type AgentPrincipal = Extract<Principal, { kind: 'agent' }>;

/** One POST that carries a JSON-RPC request, from its arrival to its answer. */
export interface McpExchange {
  era: McpEra;
  principal: AgentPrincipal;
  /** Of the HTTP request, for the log. */
  requestId: string;
  /** As the client sent it; empty when it sent none. */
  sessionId: string;
  message: McpRequest;
  /** Whether the client reads event streams, and so can be sent progress. */
  readsEvents: boolean;
  /** Whether the client has not yet taken what was written for it. */
  isBehind: () => boolean;
  /** Aborts with a `McpAbort`. */
  controller: AbortController;
}
