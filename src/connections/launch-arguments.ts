import type { LaunchArgument } from '../database.schema.js';
import type { FieldProblem } from '../errors.js';
import { MAX_ARGUMENT_LENGTH, MAX_SECRET_NAME } from './connection.dto.js';
import { PRINTABLE } from './connection-entries.dto.js';
import type { PlacedEntry } from './secret-changes.js';

/** Launch arguments as sent, taken apart. */
export interface ParsedArguments {
  /** As stored: literal texts, and the names of secret ones. */
  args: LaunchArgument[];
  /** The secret ones, with their values where given. */
  secrets: PlacedEntry[];
  problems: FieldProblem[];
}

/** Takes a list of arguments apart; each is a text or `{secret, value?}`. */
export function parseArguments(given: readonly unknown[]): ParsedArguments {
  const parsed: ParsedArguments = { args: [], secrets: [], problems: [] };
  const names = new Set<string>();
  for (const [position, element] of given.entries()) {
    const path = `args[${position}]`;
    const problem = (message: string, at = path): number => parsed.problems.push({ path: at, message });
    if (typeof element === 'string') {
      const wrong = textProblem(element);
      if (wrong !== undefined) problem(wrong);
      parsed.args.push(element);
      continue;
    }
    if (!isRecord(element)) {
      problem('must be text or an object with `secret`');
      continue;
    }
    const { secret, value } = element;
    if (typeof secret !== 'string' || secret === '' || secret.length > MAX_SECRET_NAME || !PRINTABLE.test(secret)) {
      problem(`must be a name of 1 to ${MAX_SECRET_NAME} characters`, `${path}.secret`);
      continue;
    }
    if (names.has(secret)) problem('repeats the name of an earlier secret argument', `${path}.secret`);
    names.add(secret);
    if (value !== undefined && value !== null && typeof value !== 'string') problem('must be text', `${path}.value`);
    const text = typeof value === 'string' ? value : undefined;
    const wrong = text === undefined ? undefined : textProblem(text);
    if (wrong !== undefined) problem(wrong, `${path}.value`);
    parsed.args.push({ secret });
    parsed.secrets.push({
      name: secret,
      position,
      path: `${path}.value`,
      ...(text === undefined ? {} : { value: text }),
    });
  }
  return parsed;
}

function textProblem(text: string): string | undefined {
  if (text.length > MAX_ARGUMENT_LENGTH) return `must have at most ${MAX_ARGUMENT_LENGTH} characters`;
  if (text.includes('\0')) return 'must not contain a NUL character';
  return /\p{Surrogate}/u.test(text) ? 'must not contain an unpaired surrogate' : undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
