import type { AgentVisibility } from '../database.schema.js';
import {
  BooleanField,
  BooleanQueryField,
  ChoiceField,
  IntegerField,
  NestedField,
  TextField,
  TimeField,
} from '../field.decorators.js';
import { PageQuery } from '../pagination.js';
import { AGENT_DEFAULTS, type AgentRow, agentVisibilities } from './agent.js';
import { AGENT_ID, AGENT_ID_HINT } from './agent-id.js';

/** Neither control characters nor halves of a surrogate pair. */
const PRINTABLE = /^[^\p{Cc}\p{Cs}]+$/u;
const VISIBILITY =
  'With `granted`, tools and providers without a grant appear nowhere and answer as if they did not exist';

export class CreateAgentBody {
  @TextField({
    optional: true,
    nullable: true,
    min: 1,
    max: 96,
    pattern: AGENT_ID,
    patternHint: AGENT_ID_HINT,
    description: 'Default: made from the name; immutable',
  })
  id?: string | null;

  @TextField({ min: 1, max: 120, pattern: PRINTABLE, patternHint: 'must not contain control characters' })
  name: string;

  @BooleanField({ optional: true, nullable: true, default: AGENT_DEFAULTS.enabled })
  enabled?: boolean | null;

  @ChoiceField({
    optional: true,
    nullable: true,
    choices: agentVisibilities,
    default: AGENT_DEFAULTS.visibility,
    description: VISIBILITY,
  })
  visibility?: AgentVisibility | null;
}

/** A field left out stays as it is; `null` resets it to its default. */
export class UpdateAgentBody {
  @TextField({
    optional: true,
    min: 1,
    max: 120,
    pattern: PRINTABLE,
    patternHint: 'must not contain control characters',
  })
  name?: string;

  @BooleanField({ optional: true, nullable: true, description: '`null`: true' })
  enabled?: boolean | null;

  @ChoiceField({ optional: true, nullable: true, choices: agentVisibilities, description: '`null`: all' })
  visibility?: AgentVisibility | null;
}

export class AgentListQuery extends PageQuery {
  @TextField({ optional: true, max: 200, description: 'Text that the id or the name contains, in any case' })
  query?: string;

  @BooleanQueryField({ description: 'Only enabled or only disabled agents' })
  enabled?: 'true' | 'false';
}

export class AgentAnswer {
  @TextField({ max: 96 })
  id: string;

  @TextField({ max: 120 })
  name: string;

  @BooleanField()
  enabled: boolean;

  @ChoiceField({ choices: agentVisibilities, description: VISIBILITY })
  visibility: AgentVisibility;

  @IntegerField({ min: 0, description: 'Grows with each change of the set of grants' })
  grantRevision: number;

  @TimeField()
  createdAt: string;

  @TimeField()
  updatedAt: string;
}

export class AgentPageAnswer {
  @NestedField(() => AgentAnswer, { maxItems: 200 })
  items: AgentAnswer[];

  @TextField({ max: 2_000, nullable: true })
  nextCursor: string | null;
}

export function agentAnswer(row: AgentRow): AgentAnswer {
  return {
    id: row.id,
    name: row.name,
    enabled: row.enabled,
    visibility: row.visibility,
    grantRevision: row.grant_revision,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}
