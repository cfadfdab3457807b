import { isJsonObject, type JsonObject } from './json-object.js';

/** Keyword put into every schema below the root; its value is the cost of evaluating that schema once, in steps. */
export const COST_KEYWORD = 'x-evaluation-cost';

/** Parts of a schema that become code, 0.1 to 0.5 ms of compile time each. The largest seen in the field has 91. */
const MAX_PARTS = 1_500;
/** A branch that fails leaves an error behind even when another one fits, so branches cost more. */
const BRANCH_COST = 10;

/** The schema cannot be used for checking; the message says why, in words of our own. */
export class UnusableSchemaError extends Error {}

const MAP_KEYWORDS = new Set([
  '$defs',
  'definitions',
  'dependencies',
  'dependentSchemas',
  'patternProperties',
  'properties',
]);
const DATA_KEYWORDS = new Set([
  'const',
  'default',
  'dependentRequired',
  'enum',
  'example',
  'examples',
  'required',
  'type',
]);
/** `$async` would make the validator answer with a promise; `$comment`, `default` and examples decide nothing. */
const DROPPED_KEYWORDS = new Set(['$async', '$comment', '$schema', 'default', 'example', 'examples', COST_KEYWORD]);

/**
 * Copies a schema into a form that a strict compiler takes: null keywords count as absent, what only annotates or is
 * known to trip the compiler goes, patterns that `canMatch` refuses are skipped, and each schema states its cost.
 * Recursive, so the caller bounds the depth first.
 * @throws UnusableSchemaError
 */
export function prepareSchema(schema: JsonObject, canMatch: (pattern: string) => boolean): JsonObject {
  const prepared = new SchemaPreparation(canMatch).prepareObject(schema);
  delete prepared[COST_KEYWORD];
  return prepared;
}

class SchemaPreparation {
  private parts = 0;

  constructor(private readonly canMatch: (pattern: string) => boolean) {}

  prepareObject(schema: JsonObject): JsonObject {
    this.countParts(1);
    const prepared: JsonObject = {};
    let cost = 1;
    for (const [keyword, value] of Object.entries(schema)) {
      if (keyword === '__proto__' || DROPPED_KEYWORDS.has(keyword)) continue;
      if (value === null && keyword !== 'const') continue;
      if (keyword === '$ref' || keyword === '$dynamicRef') refuseReferenceIntoData(value);
      prepared[keyword] = this.prepareKeyword(keyword, value);
      cost += costOf(keyword, value);
    }
    this.dropWhatCannotBeCompiled(prepared);
    prepared[COST_KEYWORD] = cost;
    return prepared;
  }

  private prepareKeyword(keyword: string, value: unknown): unknown {
    if (keyword === 'dependentRequired' && isJsonObject(value)) this.countParts(Object.values(value).flat().length);
    if (DATA_KEYWORDS.has(keyword)) return value;
    if (!MAP_KEYWORDS.has(keyword) || !isJsonObject(value)) return this.prepareAny(value);
    const members = Object.entries(value).filter(([name]) => name !== '__proto__');
    return Object.fromEntries(members.map(([name, member]) => [name, this.prepareAny(member)]));
  }

  /** Members of unknown keywords are prepared too, because references may reach them (`#/components/schemas/…`). */
  private prepareAny(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((member) => this.prepareAny(member));
    if (typeof value === 'boolean') this.countParts(1);
    return isJsonObject(value) ? this.prepareObject(value) : value;
  }

  private countParts(more: number): void {
    this.parts += more;
    if (this.parts > MAX_PARTS) throw new UnusableSchemaError(`the schema has more than ${MAX_PARTS} parts`);
  }

  private dropWhatCannotBeCompiled(prepared: JsonObject): void {
    const { nullable, type, id, pattern, patternProperties } = prepared;
    if (nullable !== undefined && type === undefined) delete prepared.nullable;
    if (typeof id === 'string') delete prepared.id; // the draft-04 spelling of $id
    if (typeof pattern === 'string' && !this.canMatch(pattern)) delete prepared.pattern;
    if (!isJsonObject(patternProperties)) return;
    const usable = Object.entries(patternProperties).filter(([source]) => this.canMatch(source));
    if (usable.length === Object.keys(patternProperties).length) return;
    // Without one of the patterns it cannot be known which properties are additional: those keywords are skipped too.
    prepared.patternProperties = Object.fromEntries(usable);
    delete prepared.additionalProperties;
    delete prepared.unevaluatedProperties;
  }
}

function costOf(keyword: string, value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  const isChoice = keyword === 'anyOf' || keyword === 'oneOf';
  return 1 + Object.keys(value).length * (isChoice ? BRANCH_COST : 1);
}

function refuseReferenceIntoData(reference: unknown): void {
  if (typeof reference !== 'string') return;
  const segments = reference.slice(reference.indexOf('#') + 1).split('/');
  const holdsData = segments.some((segment, at) => {
    return DATA_KEYWORDS.has(decoded(segment)) && !MAP_KEYWORDS.has(segments[at - 1] ?? '');
  });
  if (holdsData) throw new UnusableSchemaError('a "$ref" points to something that is not a schema');
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
