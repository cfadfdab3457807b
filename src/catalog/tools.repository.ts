import { Injectable } from '@nestjs/common';
import { type RawBuilder, sql } from 'kysely';
import { Database, type DatabaseTransaction } from '../database.js';
import { storedTerms } from './stored-terms.js';
import type { NewTool, StoredToolRow } from './stored-tool.js';

/** Rows and characters that travel in one statement. */
const BATCH_ROWS = 500;
const BATCH_CHARACTERS = 2_000_000;

/** True for a row of `tools` that the filters in `filters` do not hide: a hidden tool is not in the catalog. */
export function listedBy(filters: string): RawBuilder<boolean> {
  const allow = sql.ref(`${filters}.allow_tools`);
  const deny = sql.ref(`${filters}.deny_tools`);
  return sql<boolean>`((${allow} is null or tools.name = any (${allow})) and (${deny} is null or not tools.name = any (${deny})))`;
}

const LISTED = listedBy('connections');

/** What a stored tool is compared by when a new snapshot comes. */
export interface ToolMark {
  name: string;
  position: number;
  definition_hash: string;
  /** MD5 of the definition's text, which holds members that the hash leaves out. */
  text_digest: string;
  terms_version: string | null;
}

/** A tool as the search index loads it. */
export interface IndexedToolRow {
  name: string;
  position: number;
  search_terms: string;
  /** Only when the terms are of another version and must be made anew. */
  title: string | null;
  description: string | null;
}

/** The stored tools of each provider. */
@Injectable()
export class ToolsRepository {
  constructor(private readonly database: Database) {}

  /** All stored tools of a provider, hidden ones too. */
  async marks(
    providerId: string,
    executor: Pick<Database['kysely'], 'selectFrom'> = this.database.kysely,
  ): Promise<ToolMark[]> {
    return executor
      .selectFrom('tools')
      .select(['name', 'position', 'definition_hash'])
      .select([
        sql<string>`md5(definition::text)`.as('text_digest'),
        sql<string | null>`search_terms[1]`.as('terms_version'),
      ])
      .where('provider_id', '=', providerId)
      .execute();
  }

  async remove(transaction: DatabaseTransaction, providerId: string, names: readonly string[]): Promise<void> {
    if (names.length === 0) return;
    await sql`delete from tools where provider_id = ${providerId} and name = any (${names}::text[])`.execute(
      transaction,
    );
  }

  /** Inserts new tools and overwrites those of the same names. */
  async save(transaction: DatabaseTransaction, providerId: string, tools: readonly NewTool[]): Promise<void> {
    for (const batch of batchesOf(tools)) {
      await sql`
        insert into tools (provider_id, name, position, title, description, definition, definition_hash, search_terms)
        select ${providerId}, row.name, row.position, row.title, row.description, row.definition::json, row.hash,
          string_to_array(row.terms, ' ')
        from unnest(
          ${batch.map((tool) => tool.name)}::text[],
          ${batch.map((tool) => tool.position)}::integer[],
          ${batch.map((tool) => tool.title ?? null)}::text[],
          ${batch.map((tool) => tool.description ?? null)}::text[],
          ${batch.map((tool) => tool.definition)}::text[],
          ${batch.map((tool) => tool.definitionHash)}::text[],
          ${batch.map((tool) => storedTerms(tool).join(' '))}::text[]
        ) as row (name, position, title, description, definition, hash, terms)
        on conflict (provider_id, name) do update set
          position = excluded.position, title = excluded.title, description = excluded.description,
          definition = excluded.definition, definition_hash = excluded.definition_hash,
          search_terms = excluded.search_terms`.execute(transaction);
    }
  }

  /** In catalog order, behind the position given. */
  async page(providerId: string, limit: number, afterPosition: number): Promise<StoredToolRow[]> {
    return this.listed()
      .where('tools.provider_id', '=', providerId)
      .where('tools.position', '>', afterPosition)
      .orderBy('tools.position')
      .limit(limit)
      .execute();
  }

  async find(providerId: string, name: string): Promise<StoredToolRow | undefined> {
    return this.listed().where('tools.provider_id', '=', providerId).where('tools.name', '=', name).executeTakeFirst();
  }

  /** Those of the tools that are in a catalog, in any order. */
  async findMany(keys: readonly { providerId: string; name: string }[]): Promise<StoredToolRow[]> {
    if (keys.length === 0) return [];
    const providerIds = keys.map((key) => key.providerId);
    const names = keys.map((key) => key.name);
    return this.listed()
      .where(
        sql<boolean>`(tools.provider_id, tools.name) in (
          select wanted.provider_id, wanted.name
          from unnest(${providerIds}::text[], ${names}::text[]) as wanted (provider_id, name))`,
      )
      .execute();
  }

  async definitionHashes(providerId: string): Promise<{ name: string; definition_hash: string }[]> {
    return this.database.kysely
      .selectFrom('tools')
      .leftJoin('connections', 'connections.id', 'tools.provider_id')
      .select(['tools.name', 'tools.definition_hash'])
      .where(LISTED)
      .where('tools.provider_id', '=', providerId)
      .orderBy('tools.position')
      .execute();
  }

  async count(providerId: string): Promise<number> {
    const { rows } = await sql<{ count: number }>`
      select count(*)::int as count from tools left join connections on connections.id = tools.provider_id
      where tools.provider_id = ${providerId} and ${LISTED}`.execute(this.database.kysely);
    return rows[0]?.count ?? 0;
  }

  /** All stored tools of a provider for its search index, hidden ones too, in catalog order. */
  async indexed(providerId: string, termsVersion: string): Promise<IndexedToolRow[]> {
    // one text is read far quicker than an array of words
    const { rows } = await sql<IndexedToolRow>`
      select name, position, array_to_string(search_terms, ' ') as search_terms,
        case when search_terms[1] = ${termsVersion} then null else title end as title,
        case when search_terms[1] = ${termsVersion} then null else description end as description
      from tools where provider_id = ${providerId} order by position`.execute(this.database.kysely);
    return rows;
  }

  private listed() {
    return this.database.kysely
      .selectFrom('tools')
      .leftJoin('connections', 'connections.id', 'tools.provider_id')
      .select(['tools.provider_id', 'tools.name', 'tools.position', 'tools.definition', 'tools.definition_hash'])
      .where(LISTED);
  }
}

function* batchesOf(tools: readonly NewTool[]): Generator<NewTool[]> {
  let batch: NewTool[] = [];
  let characters = 0;
  for (const tool of tools) {
    if (batch.length === BATCH_ROWS || (batch.length > 0 && characters + tool.definition.length > BATCH_CHARACTERS)) {
      yield batch;
      batch = [];
      characters = 0;
    }
    batch.push(tool);
    characters += tool.definition.length;
  }
  if (batch.length > 0) yield batch;
}
