import { setImmediate } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { SearchedProvider } from './providers.repository.js';
import type { ToolDocument } from './search.js';
import { documentTermsOf, providerTerms, storedTerms, TERMS_VERSION } from './stored-terms.js';
import { ToolsRepository } from './tools.repository.js';

/** Tools kept ready for ranking, about 1 KB each. Beyond it, what was not searched for longest is read again. */
const MAX_TOOLS = 100_000;
/** Tools prepared at a stretch; then other work gets its turn. */
const STRETCH = 250;

/** A tool ready to be ranked; whether it is granted and listed is decided anew for each search. */
type IndexedTool = ToolDocument & { terms: NonNullable<ToolDocument['terms']> };

interface Snapshot {
  version: string;
  tools: IndexedTool[];
}

/**
 * The words of stored tools in memory, by provider and version. Only words are kept: what may be seen and what is
 * granted comes from the database with every search.
 */
@Injectable()
export class CatalogIndex {
  private readonly snapshots = new LRUCache<string, Snapshot>({
    maxSize: MAX_TOOLS,
    sizeCalculation: ({ tools }) => tools.length + 1,
  });
  private readonly loading = new Map<string, Promise<Snapshot>>();

  constructor(private readonly tools: ToolsRepository) {}

  /** The provider's tools that its filters do not hide, in catalog order, marked as granted when they are held. */
  async listed(provider: SearchedProvider): Promise<ToolDocument[]> {
    const { tools } = await this.snapshot(provider);
    const allowed = provider.allow_tools && new Set(provider.allow_tools);
    const denied = new Set(provider.deny_tools);
    const held = new Set(provider.held);
    const listed =
      allowed === null && denied.size === 0
        ? tools
        : tools.filter(({ name }) => (allowed === null || allowed.has(name)) && !denied.has(name));
    return held.size === 0 ? listed : listed.map((tool) => (held.has(tool.name) ? { ...tool, granted: true } : tool));
  }

  private async snapshot(provider: SearchedProvider): Promise<Snapshot> {
    const known = this.snapshots.get(provider.id);
    if (known?.version === provider.version) return known;
    const key = JSON.stringify([provider.id, provider.version]);
    const loading = this.loading.get(key) ?? this.load(provider).finally(() => this.loading.delete(key));
    this.loading.set(key, loading);
    return loading;
  }

  private async load({ id, name, version }: SearchedProvider): Promise<Snapshot> {
    const rows = await this.tools.indexed(id, TERMS_VERSION);
    const provider = providerTerms(id, name);
    const words = new Map<string, string>();
    const share = (word: string): string => {
      const known = words.get(word);
      if (known === undefined) words.set(word, word);
      return known ?? word;
    };
    const tools: IndexedTool[] = [];
    for (const row of rows) {
      const texts = { name: row.name, title: row.title ?? undefined, description: row.description ?? undefined };
      const terms =
        documentTermsOf(row.search_terms.split(' '), provider, share) ??
        documentTermsOf(storedTerms(texts), provider, share);
      if (terms === undefined) continue;
      tools.push({ providerId: id, providerName: name, name: row.name, position: row.position, granted: false, terms });
      if (tools.length % STRETCH === 0) await setImmediate();
    }
    const snapshot = { version, tools };
    this.snapshots.set(id, snapshot);
    return snapshot;
  }
}
