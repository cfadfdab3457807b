import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { Redactor } from '../redactor.js';
import { toStorableJson } from '../storable-text.js';
import { catalogWarning, type CatalogWarning, type CatalogWarningCode } from './catalog-warning.js';
import { definitionHash, type HashedDefinition } from './definition-hash.js';
import type { JsonObject } from './json-object.js';
import { mirroredParameters } from './mirrored-parameters.js';
import type { NewTool } from './stored-tool.js';
import { checkTool, collectTools, type Mask, type ToolDefinition } from './tool-definition.js';

/** Tools prepared at a stretch; then other work gets its turn. */
const STRETCH = 50;

export interface PreparedTool {
  stored: NewTool;
  definition: ToolDefinition;
}

export interface PreparedCatalog {
  tools: PreparedTool[];
  warnings: CatalogWarning[];
}

/**
 * Turns the entries of a tool list into what is stored: each checked by itself, made storable and cleared of the
 * connection's secrets, otherwise exactly as it came. Where parameters are mirrored into headers, a tool that breaks
 * the rules for that is left out.
 */
export async function prepareCatalog(
  entries: readonly unknown[],
  redactor: Redactor,
  { mirrorsParameters = false }: { mirrorsParameters?: boolean } = {},
): Promise<PreparedCatalog> {
  const mask: Mask = (text) => redactor.text(text).text;
  const collected = collectTools(entries, mask);
  const warnings = [...collected.warnings];
  const tools: PreparedTool[] = [];
  for (const [place, tool] of collected.tools.entries()) {
    const prepared =
      (mirrorsParameters ? refuseMirroring(tool, mask) : undefined) ?? prepareTool(tool, tools.length, redactor);
    if ('skipped' in prepared) warnings.push(prepared.skipped);
    else tools.push(prepared);
    if (place % STRETCH === STRETCH - 1) await setImmediate();
  }
  return { tools, warnings: redactor.json(warnings).value as CatalogWarning[] };
}

function prepareTool(
  { name, raw }: ToolDefinition,
  position: number,
  redactor: Redactor,
): PreparedTool | { skipped: CatalogWarning } {
  const shownName = redactor.text(name).text;
  try {
    const definition = redactor.json(toStorableJson(raw).value).value as JsonObject;
    // a name that was masked would no longer call the tool
    if (definition.name !== name) {
      return leftOut('name_invalid', 'the name holds a secret of this connection', shownName);
    }
    const text = JSON.stringify(definition);
    const checked = checkTool(definition);
    if ('skipped' in checked) return checked;
    const { title, description } = checked.tool;
    return {
      definition: checked.tool,
      stored: {
        name,
        position,
        title,
        description,
        definition: text,
        textDigest: createHash('md5').update(text, 'utf8').digest('hex'),
        definitionHash: hashOf(definition, text),
      },
    };
  } catch {
    // one definition that nothing foresaw must not hide the others
    return leftOut('tool_invalid', 'the definition cannot be stored', shownName);
  }
}

/** Revision 2026-07-28 tells clients over Streamable HTTP to leave such a tool out, and to say why. */
function refuseMirroring({ name, inputSchema }: ToolDefinition, mask: Mask): { skipped: CatalogWarning } | undefined {
  const mirrored = mirroredParameters(inputSchema);
  return 'problem' in mirrored ? leftOut('parameter_header_invalid', mirrored.problem, mask(name)) : undefined;
}

/** A number too large for a double was read as Infinity, which the stored text holds as null. */
function hashOf(definition: JsonObject, text: string): string {
  try {
    return definitionHash(definition as unknown as HashedDefinition);
  } catch {
    return definitionHash(JSON.parse(text) as HashedDefinition);
  }
}

function leftOut(code: CatalogWarningCode, why: string, name: string): { skipped: CatalogWarning } {
  return { skipped: catalogWarning(code, `${why}; left out`, name) };
}
