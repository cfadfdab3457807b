import { Injectable } from '@nestjs/common';
import { sql } from 'kysely';
import { Database, type DatabaseTransaction } from '../database.js';
import type { AgentVisibility } from '../database.schema.js';
import type { AgentRow } from './agent.js';

export interface NewAgent {
  id: string;
  name: string;
  enabled: boolean;
  visibility: AgentVisibility;
}

export interface AgentFilter {
  query?: string | undefined;
  enabled?: boolean | undefined;
}

/** Agents, by id. */
@Injectable()
export class AgentsRepository {
  constructor(private readonly database: Database) {}

  /** Undefined when the id is taken. */
  insert(transaction: DatabaseTransaction, agent: NewAgent): Promise<AgentRow | undefined> {
    return transaction
      .insertInto('agents')
      .values(agent)
      .onConflict((conflict) => conflict.column('id').doNothing())
      .returningAll()
      .executeTakeFirst();
  }

  find(id: string): Promise<AgentRow | undefined> {
    return this.database.kysely.selectFrom('agents').selectAll().where('id', '=', id).executeTakeFirst();
  }

  /** When those of these agents were created that exist and are enabled. */
  async enabledSince(ids: readonly string[]): Promise<Map<string, Date>> {
    const rows = await this.database.kysely
      .selectFrom('agents')
      .select(['id', 'created_at'])
      .where('id', 'in', ids)
      .where('enabled', '=', true)
      .execute();
    return new Map(rows.map(({ id, created_at: createdAt }) => [id, createdAt]));
  }

  /** In order of id. */
  list(filter: AgentFilter, limit: number, afterId: string | undefined): Promise<AgentRow[]> {
    let query = this.database.kysely.selectFrom('agents').selectAll();
    if (filter.enabled !== undefined) query = query.where('enabled', '=', filter.enabled);
    if (filter.query !== undefined && filter.query !== '') {
      const part = filter.query;
      query = query.where(
        sql<boolean>`(strpos(lower(id), lower(${part})) > 0 or strpos(lower(name), lower(${part})) > 0)`,
      );
    }
    if (afterId !== undefined) query = query.where('id', '>', afterId);
    return query.orderBy('id').limit(limit).execute();
  }

  /** Reads an agent and keeps others from changing it until the transaction ends. */
  lock(transaction: DatabaseTransaction, id: string): Promise<AgentRow | undefined> {
    return transaction.selectFrom('agents').selectAll().where('id', '=', id).forNoKeyUpdate().executeTakeFirst();
  }

  /** Errors: of the driver when there is no such agent. */
  update(transaction: DatabaseTransaction, id: string, changes: Partial<Omit<NewAgent, 'id'>>): Promise<AgentRow> {
    return transaction
      .updateTable('agents')
      .set({ ...changes, updated_at: sql<Date>`now()` })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow();
  }

  /**
   * Deletes the agent with its tokens and grants; undefined when there is no such agent. The providers of its grants are
   * locked first, as every other writer of grants does, so that deleting a provider meanwhile cannot deadlock with it.
   */
  async delete(transaction: DatabaseTransaction, id: string): Promise<AgentRow | undefined> {
    await sql`
      select id from providers
      where id in (select provider_id from grants where agent_id = ${id})
      order by id for key share`.execute(transaction);
    return transaction.deleteFrom('agents').where('id', '=', id).returningAll().executeTakeFirst();
  }
}
