import { Injectable } from '@nestjs/common';
import { type Kysely, sql } from 'kysely';
import { Database, type DatabaseTransaction } from '../database.js';
import type { DatabaseSchema } from '../database.schema.js';
import type { WantedFacts } from './grant-problems.js';
import type { ToolKey } from './tool-key.js';

export interface HeldGrant {
  agent_id: string;
  provider_id: string;
  tool_name: string;
  definition_hash: string | null;
  granted_at: Date;
  /** Null when the tool is not in the catalog, or hidden there. */
  current_definition_hash: string | null;
}

/** A grant's key. */
export interface AgentTool extends ToolKey {
  agentId: string;
}

export interface GrantFilter {
  agentId?: string | undefined;
  providerId?: string | undefined;
  toolName?: string | undefined;
}

const AGENT_TOOL = sql`grants.agent_id as "agentId", grants.provider_id as "providerId", grants.tool_name as "toolName"`;

/** A tool hidden by the connection's filters counts as not in the catalog, as it does when a call is admitted. */
const LISTED_HASH = sql<string | null>`
  case when (connections.allow_tools is null or tools.name = any (connections.allow_tools))
    and (connections.deny_tools is null or not tools.name = any (connections.deny_tools))
  then tools.definition_hash end`;

/** Exact grants: read here; changed only inside a revocation, which holds the lock that admissions share. */
@Injectable()
export class GrantsRepository {
  constructor(private readonly database: Database) {}

  /** In order of agent, provider and tool name. */
  list(filter: GrantFilter, limit: number, after: readonly [string, string, string] | undefined): Promise<HeldGrant[]> {
    let query = heldGrants(this.database.kysely);
    if (filter.agentId !== undefined) query = query.where('grants.agent_id', '=', filter.agentId);
    if (filter.providerId !== undefined) query = query.where('grants.provider_id', '=', filter.providerId);
    if (filter.toolName !== undefined) query = query.where('grants.tool_name', '=', filter.toolName);
    if (after !== undefined) {
      query = query.where(
        sql<boolean>`(grants.agent_id, grants.provider_id, grants.tool_name) > (${after[0]}, ${after[1]}, ${after[2]})`,
      );
    }
    return query.limit(limit).execute();
  }

  /** All grants of an agent, in order of provider and tool name. */
  ofAgent(agentId: string, executor: Kysely<DatabaseSchema> = this.database.kysely): Promise<HeldGrant[]> {
    return heldGrants(executor).where('grants.agent_id', '=', agentId).execute();
  }

  /** The set and its revision as of one moment; undefined when there is no such agent. */
  snapshot(agentId: string): Promise<{ revision: number; grants: HeldGrant[] } | undefined> {
    const reading = this.database.kysely.transaction().setIsolationLevel('repeatable read').setAccessMode('read only');
    return reading.execute(async (transaction) => {
      const revision = (await this.revisions([agentId], transaction)).get(agentId);
      return revision === undefined ? undefined : { revision, grants: await this.ofAgent(agentId, transaction) };
    });
  }

  /** The grant revision of each of the agents that exist. */
  async revisions(agentIds: readonly string[], transaction: DatabaseTransaction): Promise<Map<string, number>> {
    const rows = await transaction
      .selectFrom('agents')
      .select(['id', 'grant_revision'])
      .where('id', '=', sql<string>`any (${agentIds}::text[])`)
      .execute();
    return new Map(rows.map((row) => [row.id, row.grant_revision]));
  }

  async holdsOnProvider(agentId: string, providerId: string): Promise<boolean> {
    const row = await this.database.kysely
      .selectFrom('grants')
      .select('tool_name')
      .where('agent_id', '=', agentId)
      .where('provider_id', '=', providerId)
      .limit(1)
      .executeTakeFirst();
    return row !== undefined;
  }

  async isHeld(agentId: string, { providerId, toolName }: ToolKey): Promise<boolean> {
    const row = await this.database.kysely
      .selectFrom('grants')
      .select('tool_name')
      .where('agent_id', '=', agentId)
      .where('provider_id', '=', providerId)
      .where('tool_name', '=', toolName)
      .executeTakeFirst();
    return row !== undefined;
  }

  /** How many grants an agent holds on each provider, and how many of those tools are in the catalog. */
  async counts(agentId: string): Promise<{ provider_id: string; held: number; present: number }[]> {
    const { rows } = await sql<{ provider_id: string; held: number; present: number }>`
      select grants.provider_id, count(*)::int as held, count(${LISTED_HASH})::int as present
      from grants
      left join connections on connections.id = grants.provider_id
      left join tools on tools.provider_id = grants.provider_id and tools.name = grants.tool_name
      where grants.agent_id = ${agentId}
      group by grants.provider_id`.execute(this.database.kysely);
    return rows;
  }

  /**
   * Holds the providers of these tools, and with `andHeld` those of every grant of the agents, until the transaction
   * ends. Who deletes a provider holds it first and its grants then, so a writer of grants does too.
   */
  async holdProviders(
    transaction: DatabaseTransaction,
    agentIds: readonly string[],
    tools: readonly ToolKey[],
    andHeld: boolean,
  ): Promise<void> {
    const ids = tools.map(({ providerId }) => providerId);
    await sql`
      select id from providers
      where id = any (${ids}::text[]) or (${andHeld} and id in (
        select provider_id from grants where agent_id = any (${agentIds}::text[])
      ))
      order by id for key share`.execute(transaction);
  }

  /**
   * What is known about each tool that is to be granted to the agents, in the order given. Its providers are to be held
   * already: one that is being deleted was waited for and is unknown now, so no grant can refer to it.
   */
  async wantedFacts(
    transaction: DatabaseTransaction,
    agentIds: readonly string[],
    wanted: readonly ToolKey[],
  ): Promise<WantedFacts[]> {
    const { providerIds, toolNames } = columns(wanted);
    const { rows } = await sql<WantedFacts>`
      select
        providers.id is not null as provider_known,
        ${LISTED_HASH} as definition_hash,
        cardinality(${agentIds}::text[]) = (
          select count(*) from grants
          where grants.agent_id = any (${agentIds}::text[])
            and grants.provider_id = wanted.provider_id and grants.tool_name = wanted.tool_name
        ) as held_by_all
      from unnest(${providerIds}::text[], ${toolNames}::text[]) with ordinality
        as wanted (provider_id, tool_name, position)
      left join providers on providers.id = wanted.provider_id
      left join connections on connections.id = wanted.provider_id
      left join tools on tools.provider_id = wanted.provider_id and tools.name = wanted.tool_name
      order by wanted.position`.execute(transaction);
    return rows;
  }

  /** Gives every agent every tool; answers the grants that are new. A grant already held stays untouched. */
  async add(
    transaction: DatabaseTransaction,
    agentIds: readonly string[],
    tools: readonly (ToolKey & { definitionHash: string })[],
  ): Promise<AgentTool[]> {
    const { providerIds, toolNames } = columns(tools);
    const hashes = tools.map((tool) => tool.definitionHash);
    const { rows } = await sql<AgentTool>`
      insert into grants (agent_id, provider_id, tool_name, definition_hash)
      select agent.id, tool.provider_id, tool.name, tool.hash
      from unnest(${agentIds}::text[]) as agent (id)
      cross join unnest(${providerIds}::text[], ${toolNames}::text[], ${hashes}::text[])
        as tool (provider_id, name, hash)
      on conflict do nothing
      returning ${AGENT_TOOL}`.execute(transaction);
    return rows;
  }

  /** Takes every tool from every agent; answers the grants that are gone. */
  async remove(
    transaction: DatabaseTransaction,
    agentIds: readonly string[],
    tools: readonly ToolKey[],
  ): Promise<AgentTool[]> {
    const { providerIds, toolNames } = columns(tools);
    const { rows } = await sql<AgentTool>`
      delete from grants
      using unnest(${providerIds}::text[], ${toolNames}::text[]) as unwanted (provider_id, tool_name)
      where grants.agent_id = any (${agentIds}::text[])
        and grants.provider_id = unwanted.provider_id and grants.tool_name = unwanted.tool_name
      returning ${AGENT_TOOL}`.execute(transaction);
    return rows;
  }

  /** Takes all but these tools from every agent; answers the grants that are gone. */
  async removeOthers(
    transaction: DatabaseTransaction,
    agentIds: readonly string[],
    kept: readonly ToolKey[],
  ): Promise<AgentTool[]> {
    const { providerIds, toolNames } = columns(kept);
    const { rows } = await sql<AgentTool>`
      delete from grants
      where grants.agent_id = any (${agentIds}::text[]) and not exists (
        select from unnest(${providerIds}::text[], ${toolNames}::text[]) as kept (provider_id, tool_name)
        where kept.provider_id = grants.provider_id and kept.tool_name = grants.tool_name
      )
      returning ${AGENT_TOOL}`.execute(transaction);
    return rows;
  }

  /** Those of the agents that hold more than `limit` grants. */
  async agentsOver(transaction: DatabaseTransaction, agentIds: readonly string[], limit: number): Promise<string[]> {
    const { rows } = await sql<{ agent_id: string }>`
      select agent_id from grants where agent_id = any (${agentIds}::text[])
      group by agent_id having count(*) > ${limit} order by agent_id`.execute(transaction);
    return rows.map((row) => row.agent_id);
  }

  /** Counts a change of the agents' sets. */
  async raiseRevisions(transaction: DatabaseTransaction, agentIds: readonly string[]): Promise<void> {
    await sql`update agents set grant_revision = grant_revision + 1 where id = any (${agentIds}::text[])`.execute(
      transaction,
    );
  }
}

function heldGrants(executor: Kysely<DatabaseSchema>) {
  return executor
    .selectFrom('grants')
    .leftJoin('connections', 'connections.id', 'grants.provider_id')
    .leftJoin('tools', (join) =>
      join.onRef('tools.provider_id', '=', 'grants.provider_id').onRef('tools.name', '=', 'grants.tool_name'),
    )
    .select([
      'grants.agent_id',
      'grants.provider_id',
      'grants.tool_name',
      'grants.definition_hash',
      'grants.granted_at',
    ])
    .select(LISTED_HASH.as('current_definition_hash'))
    .orderBy('grants.agent_id')
    .orderBy('grants.provider_id')
    .orderBy('grants.tool_name');
}

function columns(tools: readonly ToolKey[]): { providerIds: string[]; toolNames: string[] } {
  return { providerIds: tools.map((tool) => tool.providerId), toolNames: tools.map((tool) => tool.toolName) };
}
