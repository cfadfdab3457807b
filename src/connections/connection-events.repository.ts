import { Injectable } from '@nestjs/common';
import { type Selectable, sql } from 'kysely';
import { Database, type DatabaseTransaction } from '../database.js';
import type { ConnectionEventsTable } from '../database.schema.js';
import type { PastEvent } from './past-events.js';

export type ConnectionEventRow = Selectable<ConnectionEventsTable>;

export interface NewConnectionEvent {
  connectionId: string;
  status: string;
  reason: string | null;
}

/** Any number no other advisory lock of one key uses. */
const EVENTS_LOCK = 7_301_001;

/** Stored transitions of connections. */
@Injectable()
export class ConnectionEventsRepository {
  constructor(private readonly database: Database) {}

  /** Lets one writer at a time add and trim; held until the transaction ends. */
  async lockEvents(transaction: DatabaseTransaction): Promise<void> {
    await sql`select pg_advisory_xact_lock(${EVENTS_LOCK}::bigint)`.execute(transaction);
  }

  /** Does nothing when the connection is gone. */
  async insert(transaction: DatabaseTransaction, event: NewConnectionEvent): Promise<void> {
    await sql`
      insert into connection_events (connection_id, status, reason)
      select id, ${event.status}, ${event.reason} from connections where id = ${event.connectionId} for key share
    `.execute(transaction);
  }

  /** The ids of all connections; none of them goes before the transaction ends. */
  async holdConnections(transaction: DatabaseTransaction): Promise<Set<string>> {
    const rows = await transaction.selectFrom('connections').select('id').orderBy('id').forKeyShare().execute();
    return new Set(rows.map(({ id }) => id));
  }

  /** Returns the new ids. Each connection must be there. */
  async insertImported(transaction: DatabaseTransaction, events: readonly PastEvent[]): Promise<number[]> {
    const { rows } = await sql<{ id: number }>`
      insert into connection_events (connection_id, at, status, reason, imported)
      select connection_id, at, status, reason, true
      from unnest(
        ${events.map(({ connectionId }) => connectionId)}::text[], ${events.map(({ at }) => at.toISOString())}::timestamptz[],
        ${events.map(({ status }) => status)}::text[], ${events.map(({ reason }) => reason)}::text[]
      ) with ordinality as past (connection_id, at, status, reason, place)
      order by place
      returning id
    `.execute(transaction);
    return rows.map(({ id }) => id);
  }

  /**
   * Deletes what is more than `most` in all, and returns its ids: the connection with the most loses its oldest, again
   * and again; among equals, the one whose oldest is oldest. Seen from what stays: first the newest event of every
   * connection, then the second newest of every one, and so on.
   */
  async trim(transaction: DatabaseTransaction, most: number): Promise<number[]> {
    const { rows } = await sql<{ id: number }>`
      delete from connection_events where id in (
        select id from (
          select id, at, row_number() over (partition by connection_id order by at desc, id desc) as place
          from connection_events
        ) as placed
        order by place, at desc, id desc offset ${most}
      )
      returning id
    `.execute(transaction);
    return rows.map(({ id }) => id);
  }

  /** Newest first. */
  async list(
    connectionId: string,
    limit: number,
    before: { at: string; id: number } | undefined,
  ): Promise<ConnectionEventRow[]> {
    let query = this.database.kysely
      .selectFrom('connection_events')
      .selectAll()
      .where('connection_id', '=', connectionId);
    if (before !== undefined) {
      query = query.where(sql<boolean>`(at, id) < (${before.at}::timestamptz, ${before.id}::bigint)`);
    }
    return query.orderBy('at', 'desc').orderBy('id', 'desc').limit(limit).execute();
  }
}
