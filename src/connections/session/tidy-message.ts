import type { JSONRPCMessage } from '@modelcontextprotocol/client';

/** Nothing that a handshake says is nested deeper; what is stays as it came. */
const MAX_DEPTH = 20;

/**
 * A message without the optional members of its envelope that are null: the protocol client would drop the whole
 * message, and whoever waits for it would wait until a deadline. What a tool said is left as it is.
 */
export function tidied(message: JSONRPCMessage): JSONRPCMessage {
  if ('params' in message) return tidyMember(message, 'params');
  return 'result' in message ? tidyMember(message, 'result') : message;
}

/** A message in which every member that is null is absent. */
export function withoutNulls(message: JSONRPCMessage): JSONRPCMessage {
  return stripped(message, 0) as JSONRPCMessage;
}

function tidyMember(message: JSONRPCMessage, name: 'params' | 'result'): JSONRPCMessage {
  const { [name]: value, ...rest } = message as Record<string, unknown>;
  if (value === null && name === 'params') return rest as JSONRPCMessage;
  if (typeof value !== 'object' || value === null || !('_meta' in value) || value._meta !== null) return message;
  const { _meta: _null, ...kept } = value;
  return { ...rest, [name]: kept } as JSONRPCMessage;
}

function stripped(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return value;
  if (Array.isArray(value)) return value.map((entry) => stripped(entry, depth + 1));
  const kept = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(kept.map(([name, member]) => [name, stripped(member, depth + 1)]));
}
