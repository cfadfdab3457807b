import { Injectable } from '@nestjs/common';
import { type SelectQueryBuilder, sql } from 'kysely';
import { jsonArrayFrom } from 'kysely/helpers/postgres';
import { Database, type DatabaseTransaction } from '../database.js';
import type { CatalogSummary, DatabaseSchema, LastKnown, LearnedEra } from '../database.schema.js';
import { type ConnectionRow, providerColumns, settingsColumns, toRecord } from './connection.row.js';
import type { ConnectionRecord } from './connection.record.js';
import type { ConnectionSettings } from './connection.settings.js';
import type { LaunchState } from './launch-state.js';

export interface ConnectionFilter {
  /** Lower-case text that id or name must contain. */
  text?: string | undefined;
  enabled?: boolean | undefined;
  /** Only ids behind this one. */
  afterId?: string | undefined;
  limit: number;
}

/** Saved connections; each is a row of `providers` and one of `connections`. */
@Injectable()
export class ConnectionsRepository {
  constructor(private readonly database: Database) {}

  async find(id: string): Promise<ConnectionRecord | undefined> {
    const row = await selectConnections(this.database.kysely).where('connections.id', '=', id).executeTakeFirst();
    return row && toRecord(row);
  }

  /** Reads a connection and keeps others from changing it until the transaction ends. */
  async lock(transaction: DatabaseTransaction, id: string): Promise<ConnectionRecord | undefined> {
    // First the locks, then the facts: a statement that waited for a lock would join rows from before the wait. The
    // provider before its connection, as its deletion takes the two.
    await transaction.selectFrom('providers').select('id').where('id', '=', id).forNoKeyUpdate().executeTakeFirst();
    await transaction.selectFrom('connections').select('id').where('id', '=', id).forNoKeyUpdate().executeTakeFirst();
    const row = await selectConnections(transaction).where('connections.id', '=', id).executeTakeFirst();
    return row && toRecord(row);
  }

  /** In order of id. */
  async list({ text, enabled, afterId, limit }: ConnectionFilter): Promise<ConnectionRecord[]> {
    let query = selectConnections(this.database.kysely);
    if (text !== undefined && text !== '') {
      query = query.where((where) =>
        where.or([
          where(sql`strpos(providers.name_folded, ${text})`, '>', 0),
          where(sql`strpos(lower(connections.id), ${text})`, '>', 0),
        ]),
      );
    }
    if (enabled !== undefined) query = query.where('providers.enabled', '=', enabled);
    if (afterId !== undefined) query = query.where('connections.id', '>', afterId);
    const rows = await query.orderBy('connections.id').limit(limit).execute();
    return rows.map(toRecord);
  }

  /** Which of these ids are connections. */
  async existing(transaction: DatabaseTransaction, ids: readonly string[]): Promise<Set<string>> {
    if (ids.length === 0) return new Set();
    const rows = await transaction.selectFrom('connections').select('id').where('id', 'in', ids).execute();
    return new Set(rows.map(({ id }) => id));
  }

  /** What decides about the sessions of those of these connections that exist. */
  async launchStates(ids: readonly string[]): Promise<Map<string, LaunchState>> {
    if (ids.length === 0) return new Map();
    const rows = await this.database.kysely
      .selectFrom('connections')
      .innerJoin('providers', 'providers.id', 'connections.id')
      .select(['connections.id', 'connections.launch_revision', 'providers.enabled'])
      .where('connections.id', 'in', ids)
      .execute();
    return new Map(rows.map(({ id, launch_revision: launchRevision, enabled }) => [id, { launchRevision, enabled }]));
  }

  /** False, with nothing inserted, when the id is taken. Errors: a unique violation when the name is. */
  async insert(transaction: DatabaseTransaction, id: string, settings: ConnectionSettings): Promise<boolean> {
    const provider = await transaction
      .insertInto('providers')
      .values({ id, kind: 'connection', transport: settings.transport, ...providerColumns(settings) })
      .onConflict((conflict) => conflict.column('id').doNothing())
      .returning('id')
      .executeTakeFirst();
    if (provider === undefined) return false;
    await transaction
      .insertInto('connections')
      .values({ id, ...settingsColumns(settings) })
      .execute();
    return true;
  }

  /** Errors: a unique violation when the name is taken. */
  async update(
    transaction: DatabaseTransaction,
    id: string,
    settings: ConnectionSettings,
    affectsLaunch: boolean,
  ): Promise<void> {
    await transaction.updateTable('providers').set(providerColumns(settings)).where('id', '=', id).execute();
    await transaction
      .updateTable('connections')
      .set((update) => ({
        ...settingsColumns(settings),
        revision: update('revision', '+', 1),
        updated_at: sql<Date>`now()`,
      }))
      .where('id', '=', id)
      .execute();
    if (affectsLaunch) await this.renewLaunch(transaction, id);
  }

  /** Gives the connection a new launch revision: every session of the old one ends, on every replica. */
  async renewLaunch(transaction: DatabaseTransaction, id: string): Promise<void> {
    await transaction
      .updateTable('connections')
      .set({ launch_revision: sql<number>`nextval('launch_revisions')` })
      .where('id', '=', id)
      .execute();
  }

  async delete(transaction: DatabaseTransaction, id: string): Promise<void> {
    await transaction.deleteFrom('providers').where('id', '=', id).where('kind', '=', 'connection').execute();
  }

  async saveCatalog(transaction: DatabaseTransaction, id: string, summary: CatalogSummary): Promise<void> {
    const catalog = JSON.stringify(summary);
    await transaction.updateTable('connections').set({ catalog }).where('id', '=', id).execute();
  }

  async saveEra(id: string, era: LearnedEra | null): Promise<void> {
    const learned = era === null ? null : JSON.stringify(era);
    await this.database.kysely.updateTable('connections').set({ protocol_era: learned }).where('id', '=', id).execute();
  }

  async saveLastKnown(id: string, lastKnown: LastKnown): Promise<void> {
    const last_known = JSON.stringify(lastKnown);
    await this.database.kysely.updateTable('connections').set({ last_known }).where('id', '=', id).execute();
  }
}

type Reader = Pick<Database['kysely'], 'selectFrom'>;

/** One statement, so that settings and secret marks are of one moment. */
function selectConnections(
  reader: Reader,
): SelectQueryBuilder<DatabaseSchema, 'connections' | 'providers', ConnectionRow> {
  return reader
    .selectFrom('connections')
    .innerJoin('providers', 'providers.id', 'connections.id')
    .selectAll('connections')
    .select(['providers.name', 'providers.transport', 'providers.enabled', 'providers.created_at'])
    .select((select) =>
      jsonArrayFrom(
        select
          .selectFrom('connection_secrets')
          .select([
            'connection_secrets.kind',
            'connection_secrets.name',
            'connection_secrets.position',
            'connection_secrets.flags',
          ])
          .whereRef('connection_secrets.connection_id', '=', 'connections.id')
          .orderBy('connection_secrets.kind')
          .orderBy('connection_secrets.position'),
      ).as('secrets'),
    );
}
