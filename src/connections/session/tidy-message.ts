import type { JSONRPCMessage } from '@modelcontextprotocol/client';

type Members = Record<string, unknown>;

/** Nothing that a handshake says is nested deeper; what is stays as it came. */
const MAX_DEPTH = 20;
const REQUEST = ['jsonrpc', 'id', 'method', 'params'];
const FAILURE = ['jsonrpc', 'id', 'error'];
const SUCCESS = ['jsonrpc', 'id', 'result'];

/**
 * A message whose envelope holds only the members of its kind, none of them null: many write all members, and null for
 * those that do not apply. What a tool said is left as it is. The same object where there is nothing to do.
 */
export function tidied(message: Members): Members {
  if (isThere(message['method'])) return withoutNullMeta(only(REQUEST, message), 'params');
  if (isThere(message['error'])) return only(FAILURE, message);
  return withoutNullMeta(only(SUCCESS, message), 'result');
}

/** A message in which every member that is null is absent. */
export function withoutNulls(message: JSONRPCMessage): JSONRPCMessage {
  return stripped(message, 0) as JSONRPCMessage;
}

function isThere(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function only(names: readonly string[], message: Members): Members {
  const entries = Object.entries(message);
  const kept = entries.filter(([name, value]) => names.includes(name) && isThere(value));
  return kept.length === entries.length ? message : Object.fromEntries(kept);
}

function withoutNullMeta(message: Members, name: 'params' | 'result'): Members {
  const value = message[name];
  if (typeof value !== 'object' || value === null || !('_meta' in value) || value._meta !== null) return message;
  const { _meta: _null, ...kept } = value;
  return { ...message, [name]: kept };
}

function stripped(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return value;
  if (Array.isArray(value)) return value.map((entry) => stripped(entry, depth + 1));
  const kept = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(kept.map(([name, member]) => [name, stripped(member, depth + 1)]));
}
