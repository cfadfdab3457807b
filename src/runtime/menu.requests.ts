import { CallFailure } from './call-failure.js';
import { menuSchemaOf, type MenuToolName } from './menu.definitions.js';

const MAX_TEXT_CHARACTERS = 2_000;
const DEFAULT_LIMIT = 12;
const MAX_LIMIT = 20;

export interface ProvidersRequest {
  query?: string;
  cursor?: string;
}

export interface CapabilitiesRequest extends ProvidersRequest {
  provider?: string;
  limit: number;
}

/** Errors: `CallFailure` mcp_arguments_invalid. */
export function readProvidersRequest(input: unknown): ProvidersRequest {
  return readTexts('mcp_providers', input, ['query', 'cursor']);
}

/** A `limit` outside 1..20 is brought inside. Errors: `CallFailure` mcp_arguments_invalid. */
export function readCapabilitiesRequest(input: unknown): CapabilitiesRequest {
  const { limit, ...texts } = isObject(input) ? input : { limit: undefined };
  const given = readLimit(limit);
  if (Number.isNaN(given)) {
    throw malformed('mcp_capabilities', [{ path: 'limit', message: `must be a number from 1 to ${MAX_LIMIT}` }]);
  }
  return {
    ...readTexts('mcp_capabilities', isObject(input) ? texts : input, ['provider', 'query', 'cursor']),
    limit: Math.min(MAX_LIMIT, Math.max(1, Math.trunc(given))),
  };
}

/** A number, also as text; nothing is the default. NaN for anything else. */
function readLimit(limit: unknown): number {
  if (limit === undefined || limit === null) return DEFAULT_LIMIT;
  if (typeof limit === 'number') return limit;
  if (typeof limit !== 'string') return Number.NaN;
  return limit.trim() === '' ? DEFAULT_LIMIT : Number(limit);
}

function knownNames(tool: MenuToolName): string {
  return Object.keys(menuSchemaOf(tool)?.properties ?? {}).join(', ');
}

function readTexts<Name extends string>(
  tool: MenuToolName,
  input: unknown,
  names: readonly Name[],
): { [Key in Name]?: string } {
  if (input === undefined || input === null) return {};
  if (!isObject(input)) throw malformed(tool, [{ path: '', message: 'must be an object' }]);
  const errors: { path: string; message: string }[] = [];
  const texts: { [Key in Name]?: string } = {};
  for (const name of Object.keys(input)) {
    if (!names.some((known) => known === name)) {
      errors.push({ path: name.slice(0, 200), message: `is not known here; use ${knownNames(tool)}` });
    }
  }
  for (const name of names) {
    const value = input[name];
    // models often fill what they do not need with null or nothing
    if (value === undefined || value === null || value === '') continue;
    if (typeof value !== 'string') errors.push({ path: name, message: 'must be text' });
    else if (value.length > MAX_TEXT_CHARACTERS)
      errors.push({ path: name, message: `must have at most ${MAX_TEXT_CHARACTERS} characters` });
    else texts[name] = value;
  }
  if (errors.length > 0) throw malformed(tool, errors);
  return texts;
}

function malformed(tool: MenuToolName, errors: { path: string; message: string }[]): CallFailure {
  return new CallFailure('mcp_arguments_invalid', 'The request is malformed.', {
    errors: errors.slice(0, 10),
    inputSchema: menuSchemaOf(tool),
    hint: 'Correct what errors names and ask again.',
  });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
