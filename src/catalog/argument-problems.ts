import type { ErrorObject } from 'ajv';
import { argumentAt, argumentPath } from './argument-path.js';
import { isJsonObject, type JsonObject } from './json-object.js';
import { closestAlternative } from './schema-alternatives.js';

/** One way in which arguments do not fit a schema, told so that a model can repair it; never echoes a value. */
export interface Problem {
  /** Like `arguments.owner` or `arguments.items[2].name`. */
  path: string;
  message: string;
}

export const MAX_PROBLEMS = 10;
const MAX_LISTED = 20;
const MAX_LISTED_LENGTH = 60;

/**
 * Turns the validator's errors (better told when made with `verbose`) into at most 10 problems without repetition.
 * `schema` is the one that was compiled.
 */
export function describeProblems(errors: readonly ErrorObject[], data: unknown, schema: JsonObject): Problem[] {
  const problems = new Map<string, Problem>();
  for (const error of closestAlternative(errors, schema)) {
    const problem = describe(error, data);
    problems.set(`${problem.path}\n${problem.message}`, problem);
    if (problems.size === MAX_PROBLEMS) break;
  }
  return [...problems.values()];
}

function describe(error: ErrorObject, data: unknown): Problem {
  const params = error.params as Record<string, unknown>;
  const member =
    params.missingProperty ?? params.additionalProperty ?? params.unevaluatedProperty ?? params.propertyName;
  const path = argumentPath(error.instancePath, data, typeof member === 'string' ? member : undefined);
  return { path, message: messageOf(error, params, data) };
}

function messageOf(error: ErrorObject, params: Record<string, unknown>, data: unknown): string {
  const limit = String(params.limit);
  switch (error.keyword) {
    case 'required':
    case 'dependentRequired':
    case 'dependencies':
      return 'is required';
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return `unknown property${knownProperties(error.parentSchema)}`;
    case 'propertyNames':
      return 'is not an allowed property name';
    case 'type':
      return `must be ${asList(params.type).join(' or ')}, not ${kindOf(argumentAt(error.instancePath, data))}`;
    case 'enum':
      return `must be one of: ${listed(asList(params.allowedValues).map(shown))}`;
    case 'const':
      return `must be ${shown(params.allowedValue)}`;
    case 'pattern':
      return `must match the pattern ${cut(String(params.pattern), 200)}`;
    case 'minLength':
    case 'minItems':
    case 'minProperties':
      return `must have at least ${limit} ${unitOf(error.keyword)}`;
    case 'maxLength':
    case 'maxItems':
    case 'maxProperties':
      return `must have at most ${limit} ${unitOf(error.keyword)}`;
    case 'minimum':
      return `must be at least ${limit}`;
    case 'maximum':
      return `must be at most ${limit}`;
    case 'exclusiveMinimum':
      return `must be greater than ${limit}`;
    case 'exclusiveMaximum':
      return `must be less than ${limit}`;
    case 'multipleOf':
      return `must be a multiple of ${String(params.multipleOf)}`;
    case 'uniqueItems':
      return 'must not hold the same item twice';
    case 'anyOf':
    case 'oneOf':
      return alternatives(error);
    case 'false schema':
      return 'is not allowed';
    default:
      return `does not satisfy "${error.keyword}" of the schema`;
  }
}

function knownProperties(schema: unknown): string {
  if (!isJsonObject(schema) || !isJsonObject(schema.properties)) return '';
  const names = Object.keys(schema.properties);
  return names.length === 0
    ? '; none is known'
    : `; known: ${listed(names.map((name) => cut(name, MAX_LISTED_LENGTH)))}`;
}

function alternatives(error: ErrorObject): string {
  if (error.keyword === 'oneOf' && Array.isArray(error.params.passingSchemas)) {
    return 'must match exactly one of the allowed forms, and matches several';
  }
  const forms = asList(error.schema).map((schema) => {
    if (!isJsonObject(schema)) return undefined;
    if (Array.isArray(schema.required) && schema.required.length > 0) return `{${listed(schema.required.map(String))}}`;
    if (schema.const !== undefined) return shown(schema.const);
    if (Array.isArray(schema.enum)) return listed(schema.enum.map(shown));
    return schema.type === undefined ? undefined : asList(schema.type).join(' or ');
  });
  if (forms.some((form) => form === undefined)) return 'must match one of the allowed forms of the schema';
  return `must match one of: ${listed([...new Set(forms as string[])])}`;
}

function unitOf(keyword: string): string {
  if (keyword.endsWith('Length')) return 'characters';
  return keyword.endsWith('Items') ? 'items' : 'properties';
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [value];
}

/** A value that stands in the schema, as a model would type it. */
function shown(value: unknown): string {
  return cut(typeof value === 'string' ? value : (JSON.stringify(value) ?? 'null'), MAX_LISTED_LENGTH);
}

function listed(entries: string[]): string {
  const rest = entries.length - MAX_LISTED;
  return entries.slice(0, MAX_LISTED).join(', ') + (rest > 0 ? `, … (${rest} more)` : '');
}

function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}
