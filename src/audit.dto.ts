import { auditActions, auditTargetKinds, type ChainedEntry } from './audit.entry.js';
import { ChoiceField, IntegerField, NestedField, SchemaField, TextField, TimeField } from './field.decorators.js';
import { PageQuery } from './pagination.js';

const outcomes = ['done', 'requested', 'refused'] as const;
const actorKinds = ['operator', 'command', 'environment'] as const;

export class AuditQuery extends PageQuery {
  @TextField({ optional: true, max: 100, description: 'Id of the operator key that made the change' })
  actorId?: string;

  @ChoiceField({ optional: true, choices: auditActions })
  action?: (typeof auditActions)[number];

  @ChoiceField({ optional: true, choices: auditTargetKinds })
  targetKind?: (typeof auditTargetKinds)[number];

  @TextField({ optional: true, max: 1_024 })
  targetId?: string;

  @ChoiceField({ optional: true, choices: outcomes })
  outcome?: (typeof outcomes)[number];

  @TextField({ optional: true, max: 100 })
  requestId?: string;

  @TimeField({ optional: true, description: 'Changes at or after this time' })
  from?: string;

  @TimeField({ optional: true, description: 'Changes before this time' })
  to?: string;
}

export class AuditActorAnswer {
  @ChoiceField({
    choices: actorKinds,
    description: '`command` is the `warren` command, `environment` WARREN_ADMIN_KEY',
  })
  kind: (typeof actorKinds)[number];

  @TextField({ max: 100, nullable: true, description: 'Public id of the operator key' })
  id: string | null;

  @TextField({ max: 120, nullable: true })
  name: string | null;
}

export class AuditTargetAnswer {
  @ChoiceField({ choices: auditTargetKinds })
  kind: string;

  @TextField({ max: 2_048 })
  id: string;
}

/** One change; never a secret. */
export class AuditEntryAnswer {
  @IntegerField({ description: '1, 2, 3 … without gaps' })
  sequence: number;

  @TimeField()
  at: string;

  @NestedField(() => AuditActorAnswer)
  actor: AuditActorAnswer;

  @ChoiceField({ choices: auditActions })
  action: string;

  @NestedField(() => AuditTargetAnswer)
  target: AuditTargetAnswer;

  @ChoiceField({
    choices: outcomes,
    description: '`requested`: the effect followed, see the events; `refused`: the scope was missing',
  })
  outcome: string;

  @TextField({ max: 100, nullable: true })
  requestId: string | null;

  @SchemaField({ schema: { description: 'What was before, as far as it changed; null when there was nothing' } })
  before: unknown;

  @SchemaField({ schema: { description: 'What is after, as far as it changed; null when there is nothing' } })
  after: unknown;

  @TextField({ max: 64, description: 'Hash of the row before, SHA-256 in hex' })
  previousHash: string;

  @TextField({ max: 64, description: 'SHA-256 of the previous hash and the RFC 8785 form of the other members' })
  hash: string;
}

export class AuditPageAnswer {
  @NestedField(() => AuditEntryAnswer, { maxItems: 200 })
  items: AuditEntryAnswer[];

  @TextField({ max: 2_000, nullable: true })
  nextCursor: string | null;
}

export function auditEntryAnswer({ at, previousHash, hash, ...entry }: ChainedEntry): AuditEntryAnswer {
  return {
    ...entry,
    at: at.toISOString(),
    previousHash: previousHash.toString('hex'),
    hash: hash.toString('hex'),
  };
}
