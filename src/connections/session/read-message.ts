import { isJSONRPCErrorResponse, isJSONRPCResultResponse, type JSONRPCMessage } from '@modelcontextprotocol/client';
import { tidied } from './tidy-message.js';

/** What one JSON value that a provider sent turned out to be. */
export type ReadMessage =
  /** One that the protocol client can read. */
  | { kind: 'message'; message: JSONRPCMessage }
  /** An answer that cannot be read; to the request `id`, where it tells one. */
  | { kind: 'malformed'; id: string | number | undefined }
  /** What answers nobody: what names a method, well formed or not, or what has neither result nor error. */
  | { kind: 'noise' };

/**
 * Reads a message as leniently as it has one meaning. The protocol client would drop what it cannot read without a word,
 * and whoever waits for it would wait until a deadline.
 */
export function readMessage(value: unknown): ReadMessage {
  if (!isObject(value)) return { kind: 'noise' };
  const message = tidied(value);
  const isOfVersion = message['jsonrpc'] === '2.0';
  if ('method' in message) {
    return isOfVersion && typeof message['method'] === 'string' ? known(message) : { kind: 'noise' };
  }
  if (isOfVersion && isAnswer(message)) return known(message);
  const { id } = message;
  const tellsId = typeof id === 'string' || typeof id === 'number';
  // what names a request answers it, even by nothing
  const { result, error } = tellsId ? value : message;
  if (result === undefined && error === undefined) return { kind: 'noise' };
  return { kind: 'malformed', id: tellsId ? id : undefined };
}

function known(message: object): ReadMessage {
  return { kind: 'message', message: message as JSONRPCMessage };
}

/** In the eyes of the protocol client; whose answer it is, is for others to say. */
function isAnswer({ result, error }: Record<string, unknown>): boolean {
  return error === undefined
    ? isJSONRPCResultResponse({ jsonrpc: '2.0', id: 0, result })
    : isJSONRPCErrorResponse({ jsonrpc: '2.0', id: 0, error });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
