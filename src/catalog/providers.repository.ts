import { Injectable } from '@nestjs/common';
import { type RawBuilder, sql } from 'kysely';
import { Database } from '../database.js';
import type { AgentVisibility, Lifecycle, Transport } from '../database.schema.js';
import { listedBy } from './tools.repository.js';

/** Whose eyes look at the catalog. */
export interface Viewer {
  agentId: string;
  /** With `granted`, providers and tools the agent holds no grant for do not exist. */
  visibility: AgentVisibility;
}

export interface ProviderRow {
  id: string;
  name: string;
  kind: 'connection' | 'mod';
  transport: Transport | 'mod';
  enabled: boolean;
  /** Null for a mod. */
  lifecycle: Lifecycle | null;
  has_catalog: boolean;
}

export interface ListedProviderRow extends ProviderRow {
  name_folded: string;
  /** Whether the agent holds any grant there. */
  holds: boolean;
  catalog_tools: number;
  granted_tools: number;
}

/** A provider whose tools are searched. */
export interface SearchedProvider {
  id: string;
  name: string;
  /** Another text whenever the stored tools may be others. */
  version: string;
  allow_tools: string[] | null;
  deny_tools: string[] | null;
  /** Names of the tools the agent holds, present or not. */
  held: string[];
}

export interface ProviderListPosition {
  holds: boolean;
  nameFolded: string;
  id: string;
}

/**
 * The agent's grants as (provider_id, tool_name). Grants belong to a higher room; their table is read in this one place
 * of the catalog, because what is counted, ordered and hidden by them cannot be paged without a join.
 */
function heldBy(agentId: string): RawBuilder<unknown> {
  return sql`(select grants.provider_id, grants.tool_name from grants where grants.agent_id = ${agentId})`;
}

/** A mod always has a catalog, if only an empty one; a connection has none until it was discovered. */
const HAS_CATALOG = sql<boolean>`(providers.kind = 'mod' or connections.catalog is not null)`;

const PROVIDER = sql`providers.id, providers.name, providers.kind, providers.transport, providers.enabled,
  connections.lifecycle, ${HAS_CATALOG} as has_catalog`;

const LISTED_ON_PAGE = listedBy('page');

/** Discoveries are counted, but a connection may be made anew under an old id; mods do not count theirs. */
const VERSION = sql<string>`case providers.kind
  when 'connection' then concat_ws(' ', providers.name, connections.catalog ->> 'revision',
    connections.catalog ->> 'discoveredAt')
  else concat_ws(' ', providers.name, (select md5(string_agg(tools.definition_hash, ' ' order by tools.position))
    from tools where tools.provider_id = providers.id)) end`;

/** Providers as the menu sees them. */
@Injectable()
export class ProvidersRepository {
  constructor(private readonly database: Database) {}

  /**
   * Those with this id or this folded name, in order of id. A name does not find disabled providers that the viewer
   * holds no grant on: it may not know of them.
   */
  async named(id: string, nameFolded: string, viewer: Viewer | undefined, limit: number): Promise<ProviderRow[]> {
    const { rows } = await sql<ProviderRow>`
      select ${PROVIDER} from providers left join connections on connections.id = providers.id
      where (providers.id = ${id} or (providers.name_folded = ${nameFolded} and ${nameableBy(viewer)}))
        and ${visibleTo(viewer)}
      order by providers.id = ${id} desc, providers.id collate "C"
      limit ${limit}`.execute(this.database.kysely);
    return rows;
  }

  /** Enabled providers with a catalog: those with grants first, then by name; with how many there are in all. */
  async listWithCatalog(
    viewer: Viewer,
    text: string,
    limit: number,
    after: ProviderListPosition | undefined,
  ): Promise<{ rows: ListedProviderRow[]; total: number }> {
    const behind = after
      ? sql`(not holds, name_folded collate "C", id collate "C") > (${!after.holds}, ${after.nameFolded}, ${after.id})`
      : sql`true`;
    const tools = sql`select count(*)::int from tools where tools.provider_id = page.id and ${LISTED_ON_PAGE}`;
    const held = sql`select count(*)::int from ${heldBy(viewer.agentId)} as held
      join tools on tools.provider_id = held.provider_id and tools.name = held.tool_name
      where held.provider_id = page.id and ${LISTED_ON_PAGE}`;
    const found = await sql<ListedProviderRow & { total: number }>`
      with listed as (
        select ${PROVIDER}, providers.name_folded, connections.allow_tools, connections.deny_tools,
          exists (select from ${heldBy(viewer.agentId)} as held where held.provider_id = providers.id) as holds
        from providers left join connections on connections.id = providers.id
        where providers.enabled and ${HAS_CATALOG} and ${visibleTo(viewer)}
          and (strpos(providers.name_folded, ${text}) > 0 or strpos(lower(providers.id), ${text}) > 0)
      ), page as (
        select * from listed where ${behind}
        order by holds desc, name_folded collate "C", id collate "C" limit ${limit}
      )
      select page.*, counted.total, (${held}) as granted_tools,
        ${viewer.visibility === 'granted' ? sql`(${held})` : sql`(${tools})`} as catalog_tools
      from (select count(*)::int as total from listed) as counted
      left join page on true
      order by page.holds desc, page.name_folded collate "C", page.id collate "C"`.execute(this.database.kysely);
    // an empty page still says how many there are in all
    return { rows: found.rows.filter((row) => row.id !== null), total: found.rows[0]?.total ?? 0 };
  }

  /** The enabled providers with a catalog that the viewer may search, by name. */
  async searchedBy(viewer: Viewer, providerId: string | undefined): Promise<SearchedProvider[]> {
    const { rows } = await sql<SearchedProvider>`
      select providers.id, providers.name, ${VERSION} as version, connections.allow_tools, connections.deny_tools,
        array(select held.tool_name from ${heldBy(viewer.agentId)} as held where held.provider_id = providers.id) as held
      from providers left join connections on connections.id = providers.id
      where providers.enabled and ${HAS_CATALOG} and ${visibleTo(viewer)}
        and ${providerId === undefined ? sql`true` : sql`providers.id = ${providerId}`}
      order by providers.name_folded collate "C", providers.id collate "C"`.execute(this.database.kysely);
    return rows;
  }

  /** One provider, enabled or not, without anyone's grants. */
  async searched(providerId: string): Promise<SearchedProvider | undefined> {
    const { rows } = await sql<SearchedProvider>`
      select providers.id, providers.name, ${VERSION} as version, connections.allow_tools, connections.deny_tools,
        array[]::text[] as held
      from providers left join connections on connections.id = providers.id
      where providers.id = ${providerId}`.execute(this.database.kysely);
    return rows[0];
  }
}

function nameableBy(viewer: Viewer | undefined): RawBuilder<unknown> {
  return viewer === undefined ? sql`true` : sql`(providers.enabled or ${isHeldBy(viewer)})`;
}

function visibleTo(viewer: Viewer | undefined): RawBuilder<unknown> {
  if (viewer === undefined || viewer.visibility === 'all') return sql`true`;
  return isHeldBy(viewer);
}

function isHeldBy({ agentId }: Viewer): RawBuilder<unknown> {
  return sql`exists (select from ${heldBy(agentId)} as held where held.provider_id = providers.id)`;
}
