import { CatalogWarningAnswer } from '../connections/connection.answer.js';
import type { CatalogWarning } from '../database.schema.js';
import { JsonObjectField, NestedField, TextField } from '../field.decorators.js';
import { PageQuery } from '../pagination.js';
import { catalogWarning } from './catalog-warning.js';
import type { StoredTool } from './stored-tool.js';

export class ToolListQuery extends PageQuery {
  @TextField({ optional: true, max: 500, description: 'What is wanted, in words; ranks the tools' })
  query?: string;
}

export class StoredToolAnswer {
  @TextField({ max: 512, description: 'Exact and case-sensitive' })
  name: string;

  @TextField({ optional: true, max: 262_144 })
  title?: string;

  @TextField({ optional: true, max: 262_144 })
  description?: string;

  @JsonObjectField({ description: '`{"type":"object"}` when the provider sent none that can be used' })
  inputSchema: Record<string, unknown>;

  @JsonObjectField({ optional: true })
  outputSchema?: Record<string, unknown>;

  @JsonObjectField({ optional: true })
  annotations?: Record<string, unknown>;

  @JsonObjectField({ description: 'The definition as the provider sent it' })
  definition: Record<string, unknown>;

  @TextField({ max: 64, description: 'SHA-256 of the parts that a grant is given for' })
  definitionHash: string;

  @NestedField(() => CatalogWarningAnswer, { optional: true, maxItems: 201 })
  warnings?: CatalogWarningAnswer[];
}

export class StoredToolPageAnswer {
  @NestedField(() => StoredToolAnswer, { maxItems: 200 })
  items: StoredToolAnswer[];

  @TextField({ max: 2_000, nullable: true })
  nextCursor: string | null;
}

/** A tool as it is answered, with those of the last discovery's warnings that name it. */
export function storedToolAnswer(tool: StoredTool, warnings: readonly CatalogWarning[]): StoredToolAnswer {
  const { providerId: _providerId, position: _position, ...shown } = tool;
  const shownName = catalogWarning('tool_invalid', '', tool.name).tool;
  const own = warnings.filter((warning) => warning.tool === shownName);
  return own.length === 0 ? shown : { ...shown, warnings: own };
}
