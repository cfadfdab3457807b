import { toStorableText } from '../storable-text.js';
import { CallFailure } from './call-failure.js';
import { menuSchemaOf } from './menu.definitions.js';

/** A well-formed `mcp_call`. */
export interface CallRequest {
  provider: string;
  tool: string;
  arguments: Record<string, unknown>;
}

/** Longest provider or tool name worth looking up. */
const MAX_NAME_CHARACTERS = 1_024;

/**
 * Reads the arguments of `mcp_call`. `arguments` may be left out, or be text that parses to an object.
 * Errors: `CallFailure` mcp_arguments_invalid that says how to put it right.
 */
export function readCallRequest(input: unknown): CallRequest {
  if (!isObject(input)) throw malformed([{ path: '', message: 'must be an object with provider, tool and arguments' }]);
  const { provider, tool, arguments: given, ...beside } = input;
  const problems = [
    ...nameProblems('provider', provider),
    ...nameProblems('tool', tool),
    ...Object.keys(beside)
      .slice(0, 10)
      .map((name) => ({ path: name.slice(0, 200), message: 'belongs inside arguments' })),
  ];
  const args = readArguments(given);
  if (args === undefined) problems.push({ path: 'arguments', message: 'must be an object' });
  if (problems.length > 0 || args === undefined) throw malformed(problems);
  return { ...askedFor(input), arguments: args };
}

/** What was asked for, as far as it can be read and stored: echoed in the receipt of a malformed call too. */
export function askedFor(input: unknown): { provider: string; tool: string } {
  const text = (value: unknown): string =>
    typeof value === 'string' ? toStorableText(value.slice(0, MAX_NAME_CHARACTERS)) : '';
  return isObject(input) ? { provider: text(input.provider), tool: text(input.tool) } : { provider: '', tool: '' };
}

function readArguments(given: unknown): Record<string, unknown> | undefined {
  if (given === undefined || given === null) return {};
  if (isObject(given)) return given;
  if (typeof given !== 'string') return undefined;
  try {
    const parsed: unknown = JSON.parse(given);
    return isObject(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

function nameProblems(path: string, value: unknown): { path: string; message: string }[] {
  if (typeof value !== 'string' || value === '')
    return [{ path, message: 'is required: copy it from mcp_capabilities' }];
  return value.length > MAX_NAME_CHARACTERS
    ? [{ path, message: `must have at most ${MAX_NAME_CHARACTERS} characters` }]
    : [];
}

function malformed(errors: { path: string; message: string }[]): CallFailure {
  return new CallFailure('mcp_arguments_invalid', 'The mcp_call itself is malformed.', {
    errors: errors.slice(0, 10),
    inputSchema: menuSchemaOf('mcp_call'),
    hint: 'Call mcp_call with exactly provider, tool and arguments; all parameters of the tool go inside arguments.',
  });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
