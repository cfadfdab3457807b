import { canonicalJson, sha256Hex } from '../canonical-json.js';

/** The parts of a tool definition that a grant is given for; anything else a provider adds may change freely. */
export interface HashedDefinition {
  readonly name: string;
  readonly title?: unknown;
  readonly description?: unknown;
  readonly inputSchema?: unknown;
  readonly outputSchema?: unknown;
  readonly annotations?: unknown;
}

/**
 * The definition hash: SHA-256, in lower-case hex, over the canonical JSON of the parts above; an absent part is
 * left out. Takes a definition that has passed the storable-text boundary.
 * @throws {TypeError | RangeError} as `canonicalJson` does
 */
export function definitionHash(tool: HashedDefinition): string {
  const { name, title, description, inputSchema, outputSchema, annotations } = tool;
  return sha256Hex(canonicalJson({ name, title, description, inputSchema, outputSchema, annotations }));
}
