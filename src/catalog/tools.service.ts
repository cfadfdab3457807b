import { Injectable } from '@nestjs/common';
import type { DatabaseTransaction } from '../database.js';
import { decodeCursor, encodeCursor, type Page } from '../pagination.js';
import { CatalogIndex } from './catalog-index.js';
import { ProvidersRepository } from './providers.repository.js';
import { RankedCursor } from './ranked-cursor.js';
import { rankTools } from './search.js';
import { TERMS_VERSION } from './stored-terms.js';
import { type NewTool, type StoredTool, toStoredTool } from './stored-tool.js';
import { type ToolMark, ToolsRepository } from './tools.repository.js';

/** How a new snapshot differs from the one before, in tools by exact name and definition hash. */
export interface CatalogDifference {
  added: number;
  removed: number;
  changed: number;
}

export interface ToolPageQuery {
  /** Ranks the tools by it and leaves out what does not match. */
  query?: string | undefined;
  cursor?: string | undefined;
  limit: number;
}

/** Stored tools. One hidden by the connection's filters is treated as not being there. */
@Injectable()
export class ToolsService {
  constructor(
    private readonly repository: ToolsRepository,
    private readonly providers: ProvidersRepository,
    private readonly index: CatalogIndex,
  ) {}

  /**
   * Makes these tools the provider's complete catalog. The caller's transaction keeps others from doing the same to
   * this provider meanwhile. What has not changed is not written.
   */
  async replace(
    transaction: DatabaseTransaction,
    providerId: string,
    tools: readonly NewTool[],
  ): Promise<CatalogDifference> {
    const before = new Map((await this.repository.marks(providerId, transaction)).map((mark) => [mark.name, mark]));
    const names = new Set(tools.map(({ name }) => name));
    const removed = [...before.keys()].filter((name) => !names.has(name));
    await this.repository.remove(transaction, providerId, removed);
    await this.repository.save(
      transaction,
      providerId,
      tools.filter((tool) => differs(tool, before.get(tool.name))),
    );
    const known = tools.filter(({ name }) => before.has(name));
    return {
      added: tools.length - known.length,
      removed: removed.length,
      changed: known.filter((tool) => before.get(tool.name)?.definition_hash !== tool.definitionHash).length,
    };
  }

  /** In catalog order, or ranked when there is a query. Empty for an unknown provider. Errors: `cursor_invalid`. */
  page(providerId: string, { query, cursor, limit }: ToolPageQuery): Promise<Page<StoredTool>> {
    const text = query?.trim() ?? '';
    return text === '' ? this.pageInOrder(providerId, limit, cursor) : this.pageByRank(providerId, text, limit, cursor);
  }

  /** The tool of exactly this name. */
  async find(providerId: string, name: string): Promise<StoredTool | undefined> {
    // no stored name holds NUL, and PostgreSQL takes none
    if (name.includes('\0')) return undefined;
    const row = await this.repository.find(providerId, name);
    return row && toStoredTool(row);
  }

  /** The tools in the order given; one that is not in a catalog is left out. */
  async findMany(keys: readonly { providerId: string; name: string }[]): Promise<StoredTool[]> {
    const rows = await this.repository.findMany(keys);
    return keys.flatMap(({ providerId, name }) => {
      const row = rows.find((candidate) => candidate.provider_id === providerId && candidate.name === name);
      return row === undefined ? [] : [toStoredTool(row)];
    });
  }

  /** Name and definition hash of every tool, in catalog order. */
  async definitions(providerId: string): Promise<{ name: string; definitionHash: string }[]> {
    const rows = await this.repository.definitionHashes(providerId);
    return rows.map((row) => ({ name: row.name, definitionHash: row.definition_hash }));
  }

  /** How many tools the provider's catalog has. */
  count(providerId: string): Promise<number> {
    return this.repository.count(providerId);
  }

  /** Definition hashes of all stored tools by name, hidden ones too. */
  async storedHashes(providerId: string): Promise<Map<string, string>> {
    return new Map((await this.repository.marks(providerId)).map((mark) => [mark.name, mark.definition_hash]));
  }

  private async pageInOrder(providerId: string, limit: number, cursor: string | undefined): Promise<Page<StoredTool>> {
    const after = cursor === undefined ? -1 : Number(decodeCursor(cursor, ['number'])[0]);
    const position = Math.max(-1, Math.min(Math.trunc(after), 2_147_483_647));
    const rows = await this.repository.page(providerId, limit + 1, position);
    const shown = rows.slice(0, limit);
    const last = shown.at(-1);
    const more = rows.length > limit && last !== undefined;
    return { items: shown.map(toStoredTool), nextCursor: more ? encodeCursor([last.position]) : null };
  }

  private async pageByRank(
    providerId: string,
    query: string,
    limit: number,
    cursor: string | undefined,
  ): Promise<Page<StoredTool>> {
    const pages = new RankedCursor(['tools', providerId, query]);
    const offset = pages.offset(cursor);
    const provider = await this.providers.searched(providerId);
    if (provider === undefined) return { items: [], nextCursor: null };
    const hits = rankTools(query, await this.index.listed(provider));
    const shown = hits.slice(offset, offset + limit).map(({ document }) => ({ providerId, name: document.name }));
    return { items: await this.findMany(shown), nextCursor: pages.next(offset + limit, hits.length) };
  }
}

function differs(tool: NewTool, mark: ToolMark | undefined): boolean {
  return (
    mark === undefined ||
    mark.position !== tool.position ||
    mark.definition_hash !== tool.definitionHash ||
    mark.terms_version !== TERMS_VERSION ||
    mark.text_digest !== tool.textDigest
  );
}
