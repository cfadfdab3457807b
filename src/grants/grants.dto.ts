import { BooleanField, IntegerField, NestedField, TextField, TimeField } from '../field.decorators.js';
import { PageQuery } from '../pagination.js';
import { MAX_GRANTS_PER_AGENT, MAX_PAIRS } from './grant-problems.js';
import type { HeldGrant } from './grants.repository.js';

const MAX_ID = 96;
/** As the catalog bounds them. */
const MAX_TOOL_NAME = 512;

/** One tool, by the exact id of its connection (or mod) and its exact name. */
export class ToolBody {
  @TextField({ min: 1, max: MAX_ID, description: 'Connection id, or mod.<id>' })
  connectionId: string;

  @TextField({
    min: 1,
    max: MAX_TOOL_NAME,
    pattern: /^[^\p{Cc}\p{Cs}]+$/u,
    patternHint: 'must not contain control characters',
    description: 'Exact and case-sensitive',
  })
  toolName: string;
}

export class ReplaceGrantsBody {
  @NestedField(() => ToolBody, { maxItems: MAX_GRANTS_PER_AGENT, description: 'The complete set' })
  tools: ToolBody[];
}

export class PatchGrantsBody {
  @NestedField(() => ToolBody, { optional: true, maxItems: MAX_GRANTS_PER_AGENT })
  add?: ToolBody[];

  @NestedField(() => ToolBody, {
    optional: true,
    maxItems: MAX_GRANTS_PER_AGENT,
    description: 'What is not granted is ignored',
  })
  remove?: ToolBody[];
}

export class ApplyGrantsBody {
  @TextField({
    min: 1,
    max: MAX_ID,
    maxItems: MAX_PAIRS,
    description: `agents × (add + remove): at most ${MAX_PAIRS} pairs`,
  })
  agentIds: string[];

  @NestedField(() => ToolBody, { optional: true, maxItems: MAX_PAIRS })
  add?: ToolBody[];

  @NestedField(() => ToolBody, { optional: true, maxItems: MAX_PAIRS, description: 'What is not granted is ignored' })
  remove?: ToolBody[];
}

export class GrantListQuery extends PageQuery {
  @TextField({ optional: true, max: MAX_ID })
  agentId?: string;

  @TextField({ optional: true, max: MAX_ID })
  connectionId?: string;

  @TextField({ optional: true, max: MAX_TOOL_NAME })
  toolName?: string;
}

export class GrantedToolAnswer {
  @TextField({ max: MAX_ID })
  connectionId: string;

  @TextField({ max: MAX_TOOL_NAME })
  toolName: string;

  @BooleanField({ description: 'Whether the tool is in the stored catalog and not hidden there' })
  present: boolean;

  @TextField({ max: 64, nullable: true, description: 'Hash of the definition that was granted' })
  definitionHash: string | null;

  @TextField({ max: 64, nullable: true, description: 'Hash of the definition now; null when the tool is not present' })
  currentDefinitionHash: string | null;

  @BooleanField({ description: 'Whether the two hashes differ; calls go on' })
  definitionChanged: boolean;

  @TimeField()
  grantedAt: string;
}

export class GrantSetAnswer {
  @IntegerField({ min: 0 })
  revision: number;

  @NestedField(() => GrantedToolAnswer, { maxItems: MAX_GRANTS_PER_AGENT })
  tools: GrantedToolAnswer[];
}

export class GrantAnswer extends GrantedToolAnswer {
  @TextField({ max: MAX_ID })
  agentId: string;
}

export class GrantPageAnswer {
  @NestedField(() => GrantAnswer, { maxItems: 200 })
  items: GrantAnswer[];

  @TextField({ max: 2_000, nullable: true })
  nextCursor: string | null;
}

export class AppliedGrantsItem {
  @TextField({ max: MAX_ID })
  agentId: string;

  @IntegerField({ min: 0 })
  revision: number;

  @IntegerField({ min: 0, description: 'Grants that are new' })
  added: number;

  @IntegerField({ min: 0, description: 'Grants that are gone' })
  removed: number;
}

export class AppliedGrantsAnswer {
  @NestedField(() => AppliedGrantsItem, { maxItems: MAX_PAIRS, description: 'Each agent once, in the order given' })
  items: AppliedGrantsItem[];
}

export function grantedToolAnswer(grant: HeldGrant): GrantedToolAnswer {
  const { definition_hash: granted, current_definition_hash: current } = grant;
  return {
    connectionId: grant.provider_id,
    toolName: grant.tool_name,
    present: current !== null,
    definitionHash: granted,
    currentDefinitionHash: current,
    definitionChanged: granted !== null && current !== null && granted !== current,
    grantedAt: grant.granted_at.toISOString(),
  };
}

export function grantAnswer(grant: HeldGrant): GrantAnswer {
  return Object.assign(grantedToolAnswer(grant), { agentId: grant.agent_id });
}
