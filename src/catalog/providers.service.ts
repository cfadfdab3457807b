import { Injectable } from '@nestjs/common';
import type { Lifecycle, Transport } from '../database.schema.js';
import { decodeCursor, encodeCursor } from '../pagination.js';
import { toStorableText } from '../storable-text.js';
import {
  type ProviderListPosition,
  type ProviderRow,
  ProvidersRepository,
  type Viewer,
} from './providers.repository.js';

/** What stands behind a part of the catalog, as the menu sees it. */
export interface Provider {
  id: string;
  name: string;
  kind: 'connection' | 'mod';
  transport: Transport | 'mod';
  enabled: boolean;
  /** Null for a mod. */
  lifecycle: Lifecycle | null;
  /** False for a connection that was never discovered. */
  hasCatalog: boolean;
}

export interface ListedProvider extends Provider {
  /** Tools the viewer sees there. */
  catalogToolCount: number;
  /** Of those, the ones granted. */
  grantedToolCount: number;
}

export type ProviderLookup =
  | { kind: 'found'; provider: Provider }
  /** Ids of the first providers of this name. */
  | { kind: 'ambiguous'; candidates: string[] }
  | { kind: 'none' };

export interface ProviderListQuery extends Viewer {
  /** Text that the id or the name contains, in any case. */
  query?: string | undefined;
  limit: number;
  /** `nextCursor` of the page before. */
  after?: string | undefined;
}

const MAX_CANDIDATES = 20;

/** Providers: connections and mods. */
@Injectable()
export class ProvidersService {
  constructor(private readonly repository: ProvidersRepository) {}

  /**
   * The provider of exactly this id, else the only one of this name in any case; disabled ones too. With a viewer of
   * visibility `granted`, providers without a grant do not exist.
   */
  async resolve(nameOrId: string, viewer?: Viewer): Promise<ProviderLookup> {
    // PostgreSQL takes no NUL, and no id or name holds one
    if (nameOrId === '' || nameOrId.includes('\0')) return { kind: 'none' };
    const rows = await this.repository.named(nameOrId, nameOrId.toLowerCase(), viewer, MAX_CANDIDATES);
    const [first] = rows;
    if (first === undefined) return { kind: 'none' };
    if (first.id === nameOrId || rows.length === 1) return { kind: 'found', provider: toProvider(first) };
    return { kind: 'ambiguous', candidates: rows.map(({ id }) => id) };
  }

  /**
   * Enabled providers that have a catalog, those with grants first, then by name.
   * Errors: `cursor_invalid`.
   */
  async listWithCatalog(
    query: ProviderListQuery,
  ): Promise<{ providers: ListedProvider[]; total: number; nextCursor: string | null }> {
    const { limit } = query;
    const text = toStorableText(query.query?.trim() ?? '').toLowerCase();
    const { rows, total } = await this.repository.listWithCatalog(query, text, limit + 1, positionOf(query.after));
    const shown = rows.slice(0, limit);
    const last = shown.at(-1);
    return {
      providers: shown.map((row) => ({
        ...toProvider(row),
        catalogToolCount: row.catalog_tools,
        grantedToolCount: row.granted_tools,
      })),
      total,
      nextCursor:
        rows.length > limit && last !== undefined
          ? encodeCursor([last.holds ? 1 : 0, last.name_folded, last.id])
          : null,
    };
  }
}

function toProvider({ id, name, kind, transport, enabled, lifecycle, has_catalog: hasCatalog }: ProviderRow): Provider {
  return { id, name, kind, transport, enabled, lifecycle, hasCatalog };
}

function positionOf(cursor: string | undefined): ProviderListPosition | undefined {
  if (cursor === undefined) return undefined;
  const [holds, nameFolded, id] = decodeCursor(cursor, ['number', 'string', 'string']);
  return { holds: holds === 1, nameFolded: toStorableText(String(nameFolded)), id: toStorableText(String(id)) };
}
