import { isJsonObject, type JsonObject } from './json-object.js';
import { mirroredParameters } from './mirrored-parameters.js';

/** What a header holds as it is: visible ASCII, blanks and tabs between them. */
const PLAIN = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/;
const ENCODED = /^=\?base64\?.*\?=$/;

/**
 * The `Mcp-Param-` headers of one call over Streamable HTTP in revision 2026-07-28; pure. A parameter that is absent,
 * null, or neither text, integer nor boolean has none, and neither has a tool whose annotations break the rules.
 *
 * This is the one place where arguments get into headers, and headers end up in the logs of whatever stands on the way:
 * give it the arguments as the caller wrote them, never with a secret put in.
 */
export function parameterHeaders(inputSchema: JsonObject, args: Record<string, unknown>): Record<string, string> {
  const mirrored = mirroredParameters(inputSchema);
  if ('problem' in mirrored) return {};
  const headers = mirrored.parameters.flatMap(({ path, header }): [string, string][] => {
    const text = textOf(valueAt(args, path));
    return text === undefined ? [] : [[`Mcp-Param-${header}`, encoded(text)]];
  });
  return Object.fromEntries(headers);
}

function valueAt(args: unknown, path: readonly string[]): unknown {
  let value = args;
  for (const name of path) {
    if (!isJsonObject(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value;
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'boolean' || Number.isSafeInteger(value) ? String(value) : undefined;
}

/** Text that a header cannot hold unchanged, or that looks encoded already, travels as base64 of its UTF-8. */
function encoded(text: string): string {
  if (PLAIN.test(text) && !ENCODED.test(text)) return text;
  return `=?base64?${Buffer.from(text, 'utf8').toString('base64')}?=`;
}
