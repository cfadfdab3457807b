import { Injectable } from '@nestjs/common';
import { sql } from 'kysely';
import { CANCELLATION_NOTICE, CHANGED_CHANNEL, Database } from '../database.js';

/** How long a cancellation waits for the replica that runs its call. */
const KEPT = sql`interval '60 seconds'`;
/** Waiting ones of one agent; more are dropped, for a cancellation is a courtesy. */
const MAX_PER_AGENT = 200;
/** A replica that was not heard of for this long takes no cancellations. */
const ALIVE = sql`interval '20 seconds'`;
/** The same cancellation again, sooner than this, says nothing new. */
const REPEAT = sql`interval '1 second'`;

/** A cancellation that some replica could not carry out. */
export interface WaitingCancellation {
  callKey: string;
  /** How long it has waited, milliseconds, by PostgreSQL's clock. */
  ageMs: number;
}

@Injectable()
export class CancellationsRepository {
  constructor(private readonly database: Database) {}

  /** Leaves a cancellation for the other replicas and tells them; does nothing when there are none. */
  async leave(instanceId: string, agentId: string, callKey: string): Promise<void> {
    const { kysely } = this.database;
    await sql`delete from call_cancellations where cancelled_at < clock_timestamp() - ${KEPT}`.execute(kysely);
    await sql`
      with waiting as (
        insert into call_cancellations (agent_id, call_key)
        select ${agentId}, ${callKey}
        where exists (select from instances where id <> ${instanceId}::uuid and seen_at > now() - ${ALIVE})
          and (select count(*) from call_cancellations where agent_id = ${agentId}) < ${MAX_PER_AGENT}
        on conflict on constraint call_cancellations_pkey do update set cancelled_at = excluded.cancelled_at
          where call_cancellations.cancelled_at < excluded.cancelled_at - ${REPEAT}
        returning agent_id
      )
      select pg_notify(${CHANGED_CHANNEL}, ${CANCELLATION_NOTICE}) from waiting`.execute(kysely);
  }

  /** The cancellations that wait for calls of these agents. */
  async waiting(agentIds: readonly string[]): Promise<WaitingCancellation[]> {
    const { rows } = await sql<WaitingCancellation>`
      select call_key as "callKey",
        extract(epoch from clock_timestamp() - cancelled_at)::double precision * 1000 as "ageMs"
      from call_cancellations
      where agent_id = any (${agentIds}::text[]) and cancelled_at > clock_timestamp() - ${KEPT}`.execute(
      this.database.kysely,
    );
    return rows;
  }
}
