export type McpRequestId = string | number;

export interface McpRequest {
  jsonrpc: '2.0';
  id: McpRequestId;
  method: string;
  params?: Record<string, unknown>;
}

export interface McpNotification {
  jsonrpc: '2.0';
  method: string;
  params?: Record<string, unknown>;
}

/** A well-formed message. A `response` is an answer to a request that this server never sends. */
export type McpReadable =
  | { kind: 'request'; message: McpRequest }
  | { kind: 'notification'; message: McpNotification }
  | { kind: 'response'; message: unknown };

/** One posted body, read. */
export type McpMessage = McpReadable | { kind: 'refused'; id?: McpRequestId; reason: string };

/**
 * Reads one JSON-RPC message; pure. Stricter than the SDK, which takes batches for its older eras and answers a request
 * with id null as if it were a notification.
 */
export function readMessage(body: unknown): McpMessage {
  if (Array.isArray(body)) return refused('Batches are not supported: send one message per POST.');
  if (!isRecord(body)) return refused('The body must be one JSON-RPC message, a JSON object.');
  const { id, method, params } = body;
  const known = isRequestId(id) ? id : undefined;
  if (body.jsonrpc !== '2.0') return refused('`jsonrpc` must be "2.0".', known);
  if ('id' in body && known === undefined) return refused('`id` must be a string or a whole number.');
  if (method === undefined && ('result' in body || 'error' in body)) return { kind: 'response', message: body };
  if (typeof method !== 'string' || method === '') return refused('`method` must be a non-empty string.', known);
  if (params !== undefined && !isRecord(params)) return refused('`params` must be an object.', known);
  const message = { jsonrpc: '2.0' as const, method, ...(params === undefined ? {} : { params }) };
  return known === undefined
    ? { kind: 'notification', message }
    : { kind: 'request', message: { ...message, id: known } };
}

export interface JsonRpcError {
  code: number;
  message: string;
  data?: unknown;
}

/** A JSON-RPC error message. Without an id the member is left out: the protocol's schema does not allow null there. */
export function errorMessage(error: JsonRpcError, id?: McpRequestId): Record<string, unknown> {
  return { jsonrpc: '2.0', ...(id === undefined ? {} : { id }), error };
}

/** What a `notifications/cancelled` names, if it names anything. */
export function cancelledRequestId(message: McpNotification): McpRequestId | undefined {
  if (message.method !== 'notifications/cancelled') return undefined;
  const requestId = message.params?.['requestId'];
  return isRequestId(requestId) ? requestId : undefined;
}

/** Whole numbers beyond 2^53 were already rounded by the JSON parser and could not be echoed. */
function isRequestId(id: unknown): id is McpRequestId {
  return typeof id === 'string' || Number.isSafeInteger(id);
}

function refused(reason: string, id?: McpRequestId): McpMessage {
  return { kind: 'refused', reason, ...(id === undefined ? {} : { id }) };
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
