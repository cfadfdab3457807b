import { Injectable } from '@nestjs/common';
import { sql, type Selectable } from 'kysely';
import type { CallFacts } from '../grants/decision.js';
import { Database } from '../database.js';
import type { AgentVisibility, CallProtection, CallsTable, CredentialKind } from '../database.schema.js';
import type { CallFilter } from './call-filter.js';
import type { CursorPosition } from '../pagination.js';

export type CallRow = Selectable<CallsTable>;

/** What a call asks admission for. */
export interface AdmissionRequest {
  callId: string;
  instanceId: string;
  credentialId: string;
  /** Of a token that has no row; null: the row tells. */
  tokenExpiresAt: Date | null;
  agentId: string;
  providerId: string;
  providerAsked: string;
  tool: string;
  startedAt: Date;
  argumentBytes: number;
  argumentPreview: string | null;
}

/** A call that was admitted. */
export type HeldCall = Pick<
  AdmissionRequest,
  'callId' | 'credentialId' | 'tokenExpiresAt' | 'agentId' | 'providerId' | 'tool'
>;

/** A call that is about to ask for admission. */
export interface CallIntent extends AdmissionRequest {
  actorKind: CredentialKind;
}

/** What admission found, at the moment its locks were held. */
export interface AdmissionFacts extends CallFacts {
  admitted: boolean;
  grantRevision: number | null;
  definitionHash: string | null;
  launchRevision: number | null;
  /** Until the credential expires; null: never. */
  expiresInMs: number | null;
  /** How long the locks were waited for. */
  waitedMs: number;
}

/** A finished call, for its receipt. */
export interface CallOutcome {
  id: string;
  instance_id: string;
  actor_kind: CredentialKind;
  credential_id: string;
  agent_id: string;
  provider_id: string | null;
  provider_asked: string;
  tool: string;
  started_at: string;
  finished_at: string;
  ok: boolean;
  code: string | null;
  reason: string | null;
  sent: 'no' | 'maybe' | 'yes' | null;
  duration_ms: number;
  argument_bytes: number;
  result_bytes: number | null;
  protection: CallProtection;
  truncated: boolean;
  argument_preview: string | null;
  result_preview: string | null;
}

/** One admission in progress: its transaction holds the shared locks until it ends. */
export interface HeldAdmission {
  facts: AdmissionFacts;
  /** True once the database connection is gone, and the locks with it. */
  lost: () => boolean;
  /** Commits, which lets revocations go on. Never rejects. */
  end: () => Promise<void>;
}

interface FactsRow {
  credential_valid: boolean;
  agent_enabled: boolean;
  provider_enabled: boolean;
  tool_listed: boolean;
  granted: boolean;
  holds_grant_on_provider: boolean;
  visibility: AgentVisibility;
  grant_revision: number | null;
  definition_hash: string | null;
  launch_revision: number | null;
  expires_in_ms: number | null;
}

/** A dead process holds its locks no longer than this; see `ADMISSION_HOLD_MS`, which must be well below. */
const IDLE_TRANSACTION_TIMEOUT_MS = 4_000;

@Injectable()
export class CallsRepository {
  constructor(private readonly database: Database) {}

  /**
   * Gives calls their rows, not admitted yet. Not waited for until they are on PostgreSQL's disk, since they are to
   * outlive this process, not the database: there the commit of the admission counts.
   */
  async intend(intents: readonly CallIntent[]): Promise<void> {
    const rows = intents.map((intent) => ({
      id: intent.callId,
      instance_id: intent.instanceId,
      actor_kind: intent.actorKind,
      credential_id: intent.credentialId,
      agent_id: intent.agentId,
      provider_id: intent.providerId,
      provider_asked: intent.providerAsked,
      tool: intent.tool,
      started_at: intent.startedAt,
      argument_bytes: intent.argumentBytes,
      argument_preview: intent.argumentPreview,
    }));
    await sql`
      with quick as (select set_config('synchronous_commit', 'off', true))
      insert into calls (id, state, instance_id, actor_kind, credential_id, agent_id, provider_id, provider_asked, tool,
        started_at, argument_bytes, argument_preview)
      select id, 'admitted', instance_id, actor_kind, credential_id, agent_id, provider_id, provider_asked, tool,
        started_at, argument_bytes, argument_preview
      from quick, json_populate_recordset(null::calls, ${JSON.stringify(rows)}::json)
      on conflict (id) do nothing`.execute(this.database.kysely);
  }

  /** Takes the shared locks, reads the facts, and marks the call's row as admitted if they allow the call. */
  async admit(request: AdmissionRequest): Promise<HeldAdmission> {
    const client = await this.database.pool.connect();
    let lost = false;
    const onError = (): void => {
      lost = true;
    };
    client.on('error', onError);
    const release = (error?: unknown): void => {
      client.off('error', onError);
      client.release(lost || error !== undefined);
    };
    try {
      await client.query(`begin; set local idle_in_transaction_session_timeout = ${IDLE_TRANSACTION_TIMEOUT_MS}`);
      const { rows } = await client.query<FactsRow & { admitted: boolean; waited_ms: number }>({
        ...(this.database.namedStatements ? { name: 'admit_call' } : {}),
        text: 'select * from admit_call($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)',
        values: [
          request.callId,
          request.instanceId,
          request.credentialId,
          request.agentId,
          request.providerId,
          request.tool,
          request.providerAsked,
          request.startedAt,
          request.argumentBytes,
          request.argumentPreview,
          request.tokenExpiresAt,
        ],
      });
      const row = rows[0];
      if (row === undefined) throw new Error('admit_call answered no row');
      return {
        facts: { ...toFacts(row), admitted: row.admitted, waitedMs: row.waited_ms },
        lost: () => lost,
        end: async () => {
          let failure: unknown;
          await client.query('commit').catch((error: unknown) => {
            failure = error;
          });
          release(failure);
        },
      };
    } catch (error) {
      await client.query('rollback').catch(() => undefined);
      release(error);
      throw error;
    }
  }

  /** The same facts without locks: good for telling a caller early, never for letting a call through. */
  async facts(
    credentialId: string,
    agentId: string,
    providerId: string,
    tool: string,
    tokenExpiresAt: Date | null,
  ): Promise<Omit<AdmissionFacts, 'admitted' | 'waitedMs'>> {
    const { rows } = await sql<FactsRow>`
      select * from call_facts(${credentialId}, ${agentId}, ${providerId}, ${tool},
        ${tokenExpiresAt}::timestamptz)`.execute(this.database.kysely);
    const row = rows[0];
    if (row === undefined) throw new Error('call_facts answered no row');
    return toFacts(row);
  }

  /** Of the calls in flight, the ids of those that would no longer be admitted. */
  async noLongerPermitted(calls: readonly HeldCall[]): Promise<string[]> {
    const { rows } = await sql<{ callId: string }>`
      select held."callId" from json_to_recordset(${JSON.stringify(calls)}::json)
        as held("callId" text, "credentialId" text, "agentId" text, "providerId" text, tool text,
          "tokenExpiresAt" timestamptz)
      cross join lateral call_facts(held."credentialId", held."agentId", held."providerId", held.tool,
        held."tokenExpiresAt") as facts
      where not (facts.credential_valid and facts.agent_enabled and facts.provider_enabled and facts.granted
        and facts.tool_listed)`.execute(this.database.kysely);
    return rows.map(({ callId }) => callId);
  }

  /** Writes receipts: completes admitted rows, inserts those of calls that never were. */
  async finish(outcomes: readonly CallOutcome[]): Promise<void> {
    await sql`
      insert into calls as call (id, state, instance_id, actor_kind, credential_id, agent_id, provider_id, provider_asked,
        tool, started_at, finished_at, ok, code, reason, sent, duration_ms, argument_bytes, result_bytes, protection,
        truncated, argument_preview, result_preview)
      select id, 'finished', instance_id, actor_kind, credential_id, agent_id, provider_id, provider_asked, tool,
        started_at, finished_at, ok, code, reason, sent, duration_ms, argument_bytes, result_bytes, protection, truncated,
        argument_preview, result_preview
      from json_populate_recordset(null::calls, ${JSON.stringify(outcomes)}::json)
      on conflict (id) do update set state = 'finished', finished_at = excluded.finished_at, ok = excluded.ok,
        code = excluded.code, reason = excluded.reason, sent = excluded.sent, duration_ms = excluded.duration_ms,
        result_bytes = excluded.result_bytes, protection = excluded.protection, truncated = excluded.truncated,
        argument_preview = excluded.argument_preview, result_preview = excluded.result_preview`.execute(
      this.database.kysely,
    );
  }

  async find(callId: string): Promise<CallRow | undefined> {
    return this.database.kysely.selectFrom('calls').selectAll().where('id', '=', callId).executeTakeFirst();
  }

  /** Newest first. */
  async list(filter: CallFilter, limit: number, after: CursorPosition | undefined): Promise<CallRow[]> {
    let query = this.database.kysely.selectFrom('calls').selectAll();
    if (filter.agentId !== undefined) query = query.where('agent_id', '=', filter.agentId);
    if (filter.connectionId !== undefined) query = query.where('provider_id', '=', filter.connectionId);
    if (filter.tool !== undefined) query = query.where('tool', '=', filter.tool);
    if (filter.ok !== undefined) query = query.where('ok', '=', filter.ok);
    if (filter.code !== undefined) query = query.where('code', '=', filter.code);
    if (filter.from !== undefined) query = query.where('started_at', '>=', filter.from);
    if (filter.to !== undefined) query = query.where('started_at', '<', filter.to);
    if (after !== undefined) {
      const startedAt = new Date(String(after[0]));
      query = query.where((where) =>
        where.or([
          where('started_at', '<', startedAt),
          where.and([where('started_at', '=', startedAt), where('id', '<', String(after[1]))]),
        ]),
      );
    }
    return query.orderBy('started_at', 'desc').orderBy('id', 'desc').limit(limit).execute();
  }

  /** Calls whose process died under them: their outcome at the provider is unknown. */
  async interruptOrphans(instanceTimeoutSeconds: number): Promise<number> {
    const { numAffectedRows } = await sql`
      update calls set state = 'finished', ok = false, code = 'mcp_call_interrupted', sent = 'maybe', finished_at = now()
      where state = 'admitted' and not exists (
        select from instances where instances.id = calls.instance_id
          and instances.seen_at > now() - make_interval(secs => ${instanceTimeoutSeconds}))`.execute(
      this.database.kysely,
    );
    return Number(numAffectedRows ?? 0n);
  }

  /** Says that this process lives, and which keys it holds, the current one first. */
  async beat(instanceId: string, keyIds: readonly string[]): Promise<void> {
    await sql`insert into instances (id, key_ids) values (${instanceId}::uuid, ${keyIds}::text[])
      on conflict (id) do update set seen_at = now()`.execute(this.database.kysely);
  }

  /** This process leaves; rows of long-dead ones go too. */
  async leave(instanceId: string): Promise<void> {
    await sql`delete from instances where id = ${instanceId}::uuid or seen_at < now() - interval '1 day'`.execute(
      this.database.kysely,
    );
  }
}

function toFacts(row: FactsRow): Omit<AdmissionFacts, 'admitted' | 'waitedMs'> {
  return {
    credentialValid: row.credential_valid,
    agentEnabled: row.agent_enabled,
    providerEnabled: row.provider_enabled,
    toolListed: row.tool_listed,
    granted: row.granted,
    holdsGrantOnProvider: row.holds_grant_on_provider,
    visibility: row.visibility,
    grantRevision: row.grant_revision,
    definitionHash: row.definition_hash,
    launchRevision: row.launch_revision,
    expiresInMs: row.expires_in_ms,
  };
}
