import {
  BooleanField,
  BooleanQueryField,
  ChoiceField,
  IntegerField,
  NestedField,
  NumberField,
  SchemaField,
  TextField,
  TimeField,
} from '../field.decorators.js';
import { PageQuery } from '../pagination.js';
import { protectionSchema } from './menu.schemas.js';
import type { CallRow } from './calls.repository.js';

export class CallListQuery extends PageQuery {
  @TextField({ optional: true, max: 96 })
  agentId?: string;

  @TextField({ optional: true, max: 96 })
  connectionId?: string;

  @TextField({ optional: true, max: 1_024 })
  tool?: string;

  @BooleanQueryField()
  ok?: 'true' | 'false';

  @TextField({ optional: true, max: 100 })
  code?: string;

  @TimeField({ optional: true, description: 'Calls that started at or after this time' })
  from?: string;

  @TimeField({ optional: true, description: 'Calls that started before this time' })
  to?: string;
}

export class CallActorAnswer {
  @ChoiceField({ choices: ['agent', 'operator'] })
  kind: 'agent' | 'operator';

  @TextField({ max: 96, description: 'Agent id, or operator key id' })
  id: string;

  @TextField({ max: 12, description: 'Public id of the token or key' })
  tokenId: string;
}

/** What happened in one call; never raw arguments or results. */
export class CallAnswer {
  @TextField({ max: 100 })
  callId: string;

  @ChoiceField({ choices: ['running', 'finished'] })
  state: 'running' | 'finished';

  @NestedField(() => CallActorAnswer)
  actor: CallActorAnswer;

  @TextField({ max: 96 })
  agentId: string;

  @TextField({ max: 96, nullable: true, description: 'null when the provider asked for could not be resolved' })
  connectionId: string | null;

  @TextField({ max: 1_024, description: 'The provider as the caller wrote it' })
  providerAsked: string;

  @TextField({ max: 1_024 })
  tool: string;

  @TimeField()
  startedAt: string;

  @TimeField({ nullable: true })
  finishedAt: string | null;

  @BooleanField({ nullable: true })
  ok: boolean | null;

  @TextField({ max: 100, nullable: true })
  code: string | null;

  @TextField({ max: 100, nullable: true })
  reason: string | null;

  @ChoiceField({ choices: ['no', 'maybe', 'yes'], nullable: true })
  sent: 'no' | 'maybe' | 'yes' | null;

  @NumberField({ nullable: true })
  durationMs: number | null;

  @IntegerField({ nullable: true, description: 'Of the grant set that admitted the call' })
  grantRevision: number | null;

  @TextField({ max: 64, nullable: true })
  definitionHash: string | null;

  @IntegerField({})
  argumentBytes: number;

  @IntegerField({ nullable: true, description: 'Of the result as JSON; a structuredContent out of all bounds apart' })
  resultBytes: number | null;

  @SchemaField({ schema: protectionSchema, nullable: true })
  protection: unknown;

  @BooleanField()
  truncated: boolean;

  @TextField({ max: 10_001, nullable: true, description: 'Redacted' })
  argumentPreview: string | null;

  @TextField({ max: 10_001, nullable: true, description: 'Redacted' })
  resultPreview: string | null;
}

export class CallPageAnswer {
  @NestedField(() => CallAnswer, { maxItems: 200 })
  items: CallAnswer[];

  @TextField({ max: 2_000, nullable: true })
  nextCursor: string | null;
}

export function callAnswer(row: CallRow): CallAnswer {
  return {
    callId: row.id,
    state: row.state === 'admitted' ? 'running' : 'finished',
    actor: {
      kind: row.actor_kind,
      id: row.actor_kind === 'agent' ? row.agent_id : row.credential_id,
      tokenId: row.credential_id,
    },
    agentId: row.agent_id,
    connectionId: row.provider_id,
    providerAsked: row.provider_asked,
    tool: row.tool,
    startedAt: row.started_at.toISOString(),
    finishedAt: row.finished_at?.toISOString() ?? null,
    ok: row.ok,
    code: row.code,
    reason: row.reason,
    sent: row.sent,
    durationMs: row.duration_ms,
    grantRevision: row.grant_revision,
    definitionHash: row.definition_hash,
    argumentBytes: row.argument_bytes,
    resultBytes: row.result_bytes,
    protection: row.protection,
    truncated: row.truncated,
    argumentPreview: row.argument_preview,
    resultPreview: row.result_preview,
  };
}
