import { isJsonObject, type JsonObject } from './json-object.js';

/** A parameter that a provider wants to see in an HTTP header as well (revision 2026-07-28, Streamable HTTP). */
export interface MirroredParameter {
  /** Names of the properties that lead to it. */
  path: string[];
  /** The header is `Mcp-Param-` and this. */
  header: string;
}

const ANNOTATION = 'x-mcp-header';
/** RFC 9110 section 5.1. */
const FIELD_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const TYPES = new Set<unknown>(['string', 'integer', 'boolean']);
/** Members of a schema that hold schemas by name; only `properties` lead to a value with certainty. */
const NAMED_SCHEMAS = new Set(['properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions']);
/** Members that hold one schema or a list of them. */
const INNER_SCHEMAS = new Set(
  (
    'items prefixItems additionalItems contains unevaluatedItems additionalProperties unevaluatedProperties ' +
    'propertyNames allOf anyOf oneOf not if then else'
  ).split(' '),
);

interface Place {
  schema: JsonObject;
  path: string[];
  /** Whether properties alone lead here from the root. */
  reachable: boolean;
}

/**
 * The parameters of a tool that are mirrored into headers; or why the tool breaks the rules for them, which makes it one
 * that a client over Streamable HTTP must not offer.
 */
export function mirroredParameters(inputSchema: JsonObject): { parameters: MirroredParameter[] } | { problem: string } {
  const parameters: MirroredParameter[] = [];
  const used = new Set<string>();
  const places: Place[] = [{ schema: inputSchema, path: [], reachable: true }];
  for (let place = places.pop(); place !== undefined; place = places.pop()) {
    if (Object.hasOwn(place.schema, ANNOTATION)) {
      const header = place.schema[ANNOTATION];
      const problem = problemOf(place, header, used);
      if (problem !== undefined) return { problem };
      used.add(String(header).toLowerCase());
      parameters.push({ path: place.path, header: String(header) });
    }
    places.push(...placesIn(place));
  }
  return { parameters };
}

function problemOf({ schema, path, reachable }: Place, header: unknown, used: ReadonlySet<string>): string | undefined {
  if (!reachable || path.length === 0) return `${ANNOTATION} stands where no property leads`;
  if (typeof header !== 'string' || !FIELD_NAME.test(header)) return `${ANNOTATION} is no name of an HTTP header`;
  if (!TYPES.has(schema['type'])) return `${ANNOTATION} stands on a parameter that is no string, integer or boolean`;
  return used.has(header.toLowerCase()) ? `${ANNOTATION} names ${header} more than once` : undefined;
}

function placesIn({ schema, path, reachable }: Place): Place[] {
  return Object.entries(schema).flatMap(([member, value]) => {
    if (NAMED_SCHEMAS.has(member) && isJsonObject(value)) {
      const leads = reachable && member === 'properties';
      return schemasOf(Object.entries(value), (name) => ({ path: [...path, name], reachable: leads }));
    }
    if (!INNER_SCHEMAS.has(member)) return [];
    const inner = Array.isArray(value) ? value : [value];
    return schemasOf(
      inner.map((one): [string, unknown] => [member, one]),
      () => ({ path, reachable: false }),
    );
  });
}

function schemasOf(entries: [string, unknown][], at: (name: string) => Omit<Place, 'schema'>): Place[] {
  return entries.flatMap(([name, value]) => (isJsonObject(value) ? [{ schema: value, ...at(name) }] : []));
}
