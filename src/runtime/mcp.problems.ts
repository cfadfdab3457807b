import type { AuthenticatedRequest } from '../access.guard.js';
import type { ProblemCode, ProblemError } from '../errors.js';
import { mayUse } from '../principal.js';

/** Where the menu is spoken to over MCP. */
const MCP_ROUTE = '/mcp';

/** Problems of a body, which keep it from being read as a message, with the codes of JSON-RPC. */
const BODY_PROBLEMS: Partial<Record<ProblemCode, number>> = {
  malformed_json: -32_700,
  body_too_large: -32_000,
  unsupported_media_type: -32_000,
};

/**
 * What an MCP client is told in place of a problem when its body cannot be read: a JSON-RPC error, whose id is null
 * because nobody knows it. Undefined for any other route or problem; who may not enter gets the problem.
 */
export function mcpBodyProblem(
  problem: ProblemError,
  request: AuthenticatedRequest,
): Record<string, unknown> | undefined {
  const code = BODY_PROBLEMS[problem.code];
  if (code === undefined || request.routeOptions.url !== MCP_ROUTE) return undefined;
  if (request.principal === undefined || !mayUse(request.principal, 'mcp')) return undefined;
  return { jsonrpc: '2.0', id: null, error: { code, message: problem.detail } };
}
