import type { CatalogWarning as StoredWarning } from '../database.schema.js';
import { catalogWarning, type CatalogWarning } from './catalog-warning.js';
import type { PreparedTool } from './prepared-catalog.js';
import { findUncheckedSchemas } from './schema-compiler.js';

/** Compiling tells only a warning, so a catalog of thousands of large schemas may not take longer; milliseconds. */
const SURVEY_MS = 3_000;

export interface SchemaSurvey {
  warnings: CatalogWarning[];
  /** New and changed tools that were not looked at. */
  unseen: number;
}

/**
 * The warnings `schema_unchecked` of a new catalog. A tool whose definition is the stored one keeps the warning it has
 * had; of the others, those that 3 s do not suffice for are only counted.
 */
export async function surveySchemas(
  tools: readonly PreparedTool[],
  storedHashes: ReadonlyMap<string, string>,
  earlier: readonly StoredWarning[],
): Promise<SchemaSurvey> {
  const isStored = ({ stored }: PreparedTool): boolean => storedHashes.get(stored.name) === stored.definitionHash;
  const fresh = tools.filter((tool) => !isStored(tool));
  const keptNames = new Set(
    tools.filter(isStored).map(({ stored }) => catalogWarning('schema_unchecked', '', stored.name).tool),
  );
  const warnings = earlier
    .filter(({ code, tool }) => code === 'schema_unchecked' && keptNames.has(tool))
    .map(({ message, tool }) => catalogWarning('schema_unchecked', message, tool));
  const endsAt = performance.now() + SURVEY_MS;
  for (const [done, { definition }] of fresh.entries()) {
    if (performance.now() > endsAt) return { warnings, unseen: fresh.length - done };
    warnings.push(...(await findUncheckedSchemas([definition])));
  }
  return { warnings, unseen: 0 };
}
