import { Injectable } from '@nestjs/common';
import { type Selectable, sql } from 'kysely';
import { Database, type DatabaseTransaction } from '../database.js';
import type { ConnectionEventsTable } from '../database.schema.js';

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

  /** Lets one writer at a time count and trim; held until the transaction ends. */
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

  async count(transaction: DatabaseTransaction): Promise<number> {
    const { total } = await transaction
      .selectFrom('connection_events')
      .select((select) => select.fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow();
    return total;
  }

  /** Deletes the oldest event of the connection with the most; among equals, of the one whose oldest is oldest. */
  async deleteOldestOfFullest(transaction: DatabaseTransaction): Promise<void> {
    await sql`
      delete from connection_events where id = (
        select min(id) from connection_events group by connection_id order by count(*) desc, min(id) limit 1
      )
    `.execute(transaction);
  }

  /** Newest first. */
  async list(connectionId: string, limit: number, beforeId: number | undefined): Promise<ConnectionEventRow[]> {
    let query = this.database.kysely
      .selectFrom('connection_events')
      .selectAll()
      .where('connection_id', '=', connectionId);
    if (beforeId !== undefined) query = query.where('id', '<', beforeId);
    return query.orderBy('id', 'desc').limit(limit).execute();
  }
}
