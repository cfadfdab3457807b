import { catalogWarning, limitWarnings, type CatalogWarning, type CatalogWarningCode } from './catalog-warning.js';
import { measureJson } from './json-measure.js';
import { isJsonObject, type JsonObject } from './json-object.js';

export interface ToolDefinition {
  /** Exact, case-sensitive, never cleaned: it is sent back to the provider as it came. */
  name: string;
  title?: string;
  description?: string;
  inputSchema: JsonObject;
  outputSchema?: JsonObject;
  annotations?: JsonObject;
  /** The entry as the provider sent it, unknown members and all; only one past the bounds is cut down. */
  raw: JsonObject;
}

export type CheckedTool = { tool: ToolDefinition; warnings: CatalogWarning[] } | { skipped: CatalogWarning };

/** Characters of a tool name: as UTF-8 it must still fit one PostgreSQL index entry (2,704 bytes). */
const MAX_NAME = 512;
const MAX_DEFINITION_BYTES = 256 * 1024;
/** Deeper nesting than this is refused, so that everything downstream (hashing, storing, serving) may recurse. */
const MAX_DEFINITION_DEPTH = 2_000;
/** UTF-16 units kept of a text when a definition is cut down. */
const MAX_CUT_TEXT = 16_000;

/** Masks secrets in a text that is about to be cut: half a secret would not be known for one afterwards. */
export type Mask = (text: string) => string;

const asItIs: Mask = (text) => text;

/** Checks one entry of a tool list by itself, so that a bad one never hides another. Never throws. */
export function checkTool(entry: unknown, mask: Mask = asItIs): CheckedTool {
  if (!isJsonObject(entry)) return { skipped: catalogWarning('tool_invalid', 'the entry is not an object; left out') };
  const { name } = entry;
  if (typeof name !== 'string')
    return { skipped: catalogWarning('name_invalid', 'the name is not a string; left out') };
  const badName = nameProblem(name, mask);
  if (badName !== undefined) return { skipped: badName };
  const warnings: CatalogWarning[] = [];
  const warn = (code: CatalogWarningCode, message: string) => warnings.push(catalogWarning(code, message, mask(name)));

  const raw = cutDown(entry, warn, mask);
  const annotations = optionalObject(raw.annotations, () => warn('annotations_invalid', 'annotations is no object'));
  const ownTitle = optionalText(raw.title, () => warn('title_invalid', 'title is not a string; dropped'));
  const title =
    ownTitle ?? optionalText(annotations?.title, () => warn('title_invalid', 'annotations.title is not a string'));
  const description = optionalText(raw.description, () =>
    warn('description_invalid', 'description is not a string; dropped'),
  );
  const outputSchema = optionalObject(raw.outputSchema, () =>
    warn('output_schema_invalid', 'outputSchema is no object'),
  );
  const schemaProblem = inputSchemaProblem(raw.inputSchema);
  if (schemaProblem !== undefined) warn('input_schema_invalid', `${schemaProblem}; {"type":"object"} is used`);

  const tool: ToolDefinition = {
    name,
    inputSchema: schemaProblem === undefined ? (raw.inputSchema as JsonObject) : { type: 'object' },
    raw,
  };
  if (title !== undefined) tool.title = title;
  if (description !== undefined) tool.description = description;
  if (outputSchema !== undefined) tool.outputSchema = outputSchema;
  if (annotations !== undefined) tool.annotations = annotations;
  return { tool, warnings };
}

/** Checks all entries; of entries with exactly the same name the first is kept. At most 201 warnings. Never throws. */
export function collectTools(
  entries: readonly unknown[],
  mask: Mask = asItIs,
): { tools: ToolDefinition[]; warnings: CatalogWarning[] } {
  const byName = new Map<string, ToolDefinition>();
  const warnings: CatalogWarning[] = [];
  for (const entry of entries) {
    const checked = checkTool(entry, mask);
    if ('skipped' in checked) {
      warnings.push(checked.skipped);
    } else if (byName.has(checked.tool.name)) {
      warnings.push(
        catalogWarning('duplicate_name', 'listed more than once; the first is kept', mask(checked.tool.name)),
      );
    } else {
      byName.set(checked.tool.name, checked.tool);
      warnings.push(...checked.warnings);
    }
  }
  return { tools: [...byName.values()], warnings: limitWarnings(warnings) };
}

function nameProblem(name: string, mask: Mask): CatalogWarning | undefined {
  if (name === '') return catalogWarning('name_invalid', 'the name is empty; left out', mask(name));
  if (name.length > MAX_NAME) {
    return catalogWarning('name_too_long', `the name is longer than ${MAX_NAME} characters; left out`, mask(name));
  }
  if (/\p{Cc}/u.test(name))
    return catalogWarning('name_invalid', 'the name holds control characters; left out', mask(name));
  // A lone surrogate cannot be stored, and a name changed to be storable would no longer call the tool.
  if (/\p{Cs}/u.test(name))
    return catalogWarning('name_invalid', 'the name is not valid Unicode; left out', mask(name));
  return undefined;
}

/** Says why `schema` cannot describe an arguments object. Odd but legal schemas pass as they are. */
function inputSchemaProblem(schema: unknown): string | undefined {
  if (schema === undefined || schema === null) return 'inputSchema is missing';
  if (!isJsonObject(schema)) return 'inputSchema is no object';
  const { type } = schema;
  if (type === undefined || type === null || type === 'object') return undefined;
  if (Array.isArray(type) && type.includes('object')) return undefined;
  return 'inputSchema does not have the type "object"';
}

function optionalText(value: unknown, complain: () => void): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value === 'string') return value;
  complain();
  return undefined;
}

function optionalObject(value: unknown, complain: () => void): JsonObject | undefined {
  if (value === undefined || value === null) return undefined;
  if (isJsonObject(value)) return value;
  complain();
  return undefined;
}

/** Returns the entry itself when it is within the bounds, else its essentials without its schemas. */
function cutDown(entry: JsonObject, warn: (code: CatalogWarningCode, message: string) => void, mask: Mask): JsonObject {
  const { bytes, depth } = measureJson(entry);
  if (bytes > MAX_DEFINITION_BYTES) {
    warn(
      'definition_too_large',
      `larger than ${MAX_DEFINITION_BYTES} bytes; its schemas are replaced by {"type":"object"}`,
    );
  } else if (depth > MAX_DEFINITION_DEPTH) {
    warn(
      'definition_too_deep',
      `nested over ${MAX_DEFINITION_DEPTH} deep; its schemas are replaced by {"type":"object"}`,
    );
  } else {
    return entry;
  }
  const { name, title, description, annotations } = entry;
  const kept: JsonObject = { name, inputSchema: { type: 'object' } };
  if (typeof title === 'string') kept.title = cutText(mask(title));
  if (typeof description === 'string') kept.description = cutText(mask(description));
  // The hints (read-only, destructive, ...) are booleans; they stay, since people and models decide by them.
  if (isJsonObject(annotations)) {
    const hints = Object.entries(annotations).filter(([key, value]) => typeof value === 'boolean' && key.length <= 64);
    kept.annotations = Object.fromEntries(hints.slice(0, 20));
  }
  return kept;
}

function cutText(text: string): string {
  return text.slice(0, MAX_CUT_TEXT).replace(/[\uD800-\uDBFF]$/, '');
}
