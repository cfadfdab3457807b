import { setImmediate } from 'node:timers/promises';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { LRUCache } from 'lru-cache';
import { catalogWarning, type CatalogWarning } from './catalog-warning.js';
import { measureJson } from './json-measure.js';
import type { JsonObject } from './json-object.js';
import { SchemaCheck, type CheckedSchema, type Dialect } from './schema-check.js';
import { UnusableSchemaError } from './schema-preparation.js';
import type { ToolDefinition } from './tool-definition.js';

export interface UncheckedSchema {
  /** Why arguments cannot be checked against the schema; they go to the provider as they are. */
  unchecked: string;
}

export type CompiledSchema = CheckedSchema | UncheckedSchema;

const MAX_SCHEMA_BYTES = 256 * 1024;
const MAX_SCHEMA_DEPTH = 64;

/**
 * Compiles an input schema for checking arguments, within 256 KiB and 64 levels. Nothing is ever loaded from elsewhere,
 * formats are annotations, and a pattern the linear-time engine cannot take is skipped. Never throws.
 */
export function compileSchema(schema: JsonObject): CompiledSchema {
  const { bytes, depth } = measureJson(schema);
  if (bytes > MAX_SCHEMA_BYTES) return { unchecked: `the schema is larger than ${MAX_SCHEMA_BYTES} bytes` };
  if (depth > MAX_SCHEMA_DEPTH) return { unchecked: `the schema is nested more than ${MAX_SCHEMA_DEPTH} levels deep` };
  let reason = '';
  for (const dialect of dialectsOf(schema)) {
    try {
      return new SchemaCheck(schema, dialect);
    } catch (error) {
      reason ||= reasonOf(error);
    }
  }
  return { unchecked: reason };
}

/** An unnamed dialect is 2020-12 by the protocol, but many such schemas were written for draft-07. */
function dialectsOf(schema: JsonObject): Dialect[] {
  const { $schema } = schema;
  if (typeof $schema === 'string' && /json-schema\.org\/draft-0[4-7]\//.test($schema)) return [Ajv];
  return typeof $schema === 'string' && $schema.includes('/2020-12/') ? [Ajv2020] : [Ajv2020, Ajv];
}

function reasonOf(error: unknown): string {
  if (error instanceof UnusableSchemaError) return error.message;
  if (error instanceof RangeError) return 'the schema refers to itself without end';
  const text = error instanceof Error ? error.message : '';
  if (/resolve reference/.test(text)) return 'a "$ref" points outside the schema or to nothing';
  return 'the schema is not valid JSON Schema';
}

/** Compiled schemas of the tools in use: at most 2,000 of them, made from 2 MiB of text (each holds about 50 KB). */
export class SchemaCompiler {
  private readonly compiled = new LRUCache<string, CompiledSchema>({ max: 2_000, maxSize: 2 * 1024 * 1024 });

  /** The compiled schema of the definition with this hash; compiled on first use. Never throws. */
  forDefinition(definitionHash: string, schema: JsonObject): CompiledSchema {
    const known = this.compiled.get(definitionHash);
    if (known !== undefined) return known;
    const compiled = compileSchema(schema);
    const size = 'unchecked' in compiled ? 1 : 1 + measureJson(schema).bytes;
    this.compiled.set(definitionHash, compiled, { size });
    return compiled;
  }
}

/**
 * One warning `schema_unchecked` for each tool whose schema cannot be compiled. Compiling is work of up to 0.3 s a
 * schema, so the event loop gets its turn between tools.
 */
export async function findUncheckedSchemas(tools: readonly ToolDefinition[]): Promise<CatalogWarning[]> {
  const warnings: CatalogWarning[] = [];
  for (const { name, inputSchema } of tools) {
    const compiled = compileSchema(inputSchema);
    if ('unchecked' in compiled) {
      warnings.push(catalogWarning('schema_unchecked', `arguments are not checked: ${compiled.unchecked}`, name));
    }
    await setImmediate();
  }
  return warnings;
}
