import { Injectable } from '@nestjs/common';
import { sql } from 'kysely';
import { Database, type DatabaseTransaction } from '../database.js';
import type { CatalogSummary } from '../database.schema.js';

/** What a discovery must know of a connection at the moment its result is stored. */
export interface DiscoveredConnection {
  catalog: CatalogSummary | null;
  launch_revision: number;
}

/** Which connections to discover, and the lock that lets one result at a time be stored. */
@Injectable()
export class DiscoveryRepository {
  constructor(private readonly database: Database) {}

  /** Keeps other discoveries, changes and the deletion of the connection waiting until the transaction ends. */
  async lock(transaction: DatabaseTransaction, id: string): Promise<DiscoveredConnection | undefined> {
    // the provider first, as the deletion of a connection takes the two in this order too
    await sql`select id from providers where id = ${id} for key share`.execute(transaction);
    return transaction
      .selectFrom('connections')
      .select(['catalog', 'launch_revision'])
      .where('id', '=', id)
      .forNoKeyUpdate()
      .executeTakeFirst();
  }

  /** Ids of all enabled connections. */
  async enabled(): Promise<string[]> {
    const rows = await this.database.kysely
      .selectFrom('providers')
      .select('id')
      .where('kind', '=', 'connection')
      .where('enabled', '=', true)
      .orderBy('id')
      .execute();
    return rows.map(({ id }) => id);
  }

  /** Ids of enabled connections whose catalog is older than so many hours, in random order. */
  async olderThan(hours: number, limit: number): Promise<string[]> {
    const { rows } = await sql<{ id: string }>`
      select providers.id from providers join connections on connections.id = providers.id
      where providers.enabled
        and (connections.catalog ->> 'discoveredAt')::timestamptz < now() - make_interval(hours => ${hours})
      order by random() limit ${limit}`.execute(this.database.kysely);
    return rows.map(({ id }) => id);
  }
}
