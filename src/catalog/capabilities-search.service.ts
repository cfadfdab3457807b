import { Injectable } from '@nestjs/common';
import { CatalogIndex } from './catalog-index.js';
import { ProvidersRepository, type SearchedProvider, type Viewer } from './providers.repository.js';
import { RankedCursor } from './ranked-cursor.js';
import { rankTools, type ToolDocument } from './search.js';
import type { StoredTool } from './stored-tool.js';
import { ToolsService } from './tools.service.js';

export interface CapabilitiesQuery extends Viewer {
  /** Only this provider. */
  providerId?: string | undefined;
  /** What is wanted; without it, granted tools come first and then catalog order. */
  query?: string | undefined;
  cursor?: string | undefined;
  limit: number;
}

export interface CapabilityHit extends StoredTool {
  providerName: string;
  granted: boolean;
}

export interface CapabilitiesPage {
  hits: CapabilityHit[];
  /** Hits on all pages together. */
  totalCount: number;
  nextCursor: string | null;
}

/** Finds tools over all providers for one agent. */
@Injectable()
export class CapabilitiesSearch {
  constructor(
    private readonly providers: ProvidersRepository,
    private readonly index: CatalogIndex,
    private readonly tools: ToolsService,
  ) {}

  /**
   * Tools of enabled providers that have a catalog, best first. With visibility `granted` only granted ones exist.
   * Errors: `cursor_invalid`.
   */
  async search(query: CapabilitiesQuery): Promise<CapabilitiesPage> {
    const { agentId, visibility, providerId, limit } = query;
    const text = query.query?.trim() ?? '';
    const pages = new RankedCursor(['capabilities', agentId, visibility, providerId ?? null, text]);
    const offset = pages.offset(query.cursor);
    const providers = await this.providers.searchedBy(query, providerId);
    const visible = await this.visibleTools(providers, visibility);
    const ordered = text === '' ? inCatalogOrder(visible) : rankTools(text, visible).map(({ document }) => document);
    return {
      hits: await this.complete(ordered.slice(offset, offset + limit)),
      totalCount: ordered.length,
      nextCursor: pages.next(offset + limit, ordered.length),
    };
  }

  /** Providers are in order of name, and so are their tools then. */
  private async visibleTools(
    providers: readonly SearchedProvider[],
    visibility: Viewer['visibility'],
  ): Promise<ToolDocument[]> {
    const visible: ToolDocument[] = [];
    for (const provider of providers) {
      for (const tool of await this.index.listed(provider)) {
        if (visibility === 'all' || tool.granted) visible.push(tool);
      }
    }
    return visible;
  }

  private async complete(documents: readonly ToolDocument[]): Promise<CapabilityHit[]> {
    const tools = await this.tools.findMany(documents);
    // a tool that left the catalog since the index was read is left out
    return tools.flatMap((tool) => {
      const found = documents.find(({ providerId, name }) => providerId === tool.providerId && name === tool.name);
      return found === undefined ? [] : [{ ...tool, providerName: found.providerName, granted: found.granted }];
    });
  }
}

function inCatalogOrder(tools: readonly ToolDocument[]): ToolDocument[] {
  return [...tools.filter(({ granted }) => granted), ...tools.filter(({ granted }) => !granted)];
}
