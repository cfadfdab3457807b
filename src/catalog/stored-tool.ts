import type { Selectable } from 'kysely';
import type { ToolsTable } from '../database.schema.js';
import type { JsonObject } from './json-object.js';
import { checkTool } from './tool-definition.js';

/** A tool of a stored catalog. What the definition lacks or has wrong is left out or replaced, as discovery warned. */
export interface StoredTool {
  providerId: string;
  /** Exact and case-sensitive. */
  name: string;
  title?: string;
  description?: string;
  inputSchema: JsonObject;
  outputSchema?: JsonObject;
  annotations?: JsonObject;
  /** As the provider sent it, after the storability and redaction boundary. */
  definition: JsonObject;
  definitionHash: string;
  /** Place in the provider's catalog, from 0. */
  position: number;
}

/** A tool of a new snapshot, ready to be stored. */
export interface NewTool {
  name: string;
  /** Place in the provider's catalog, from 0; no two the same. */
  position: number;
  title?: string | undefined;
  description?: string | undefined;
  /** The definition as JSON text. */
  definition: string;
  /** MD5 of that text in lower-case hex, to see whether anything in it changed. */
  textDigest: string;
  definitionHash: string;
}

export type StoredToolRow = Pick<
  Selectable<ToolsTable>,
  'provider_id' | 'name' | 'position' | 'definition' | 'definition_hash'
>;

export function toStoredTool(row: StoredToolRow): StoredTool {
  const { provider_id: providerId, definition, definition_hash: definitionHash, position } = row;
  const checked = checkTool(definition);
  if ('skipped' in checked) {
    return { providerId, name: row.name, inputSchema: { type: 'object' }, definition, definitionHash, position };
  }
  const { raw: _raw, ...tool } = checked.tool;
  return { ...tool, providerId, name: row.name, definition, definitionHash, position };
}
