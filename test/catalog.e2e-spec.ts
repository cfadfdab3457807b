import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Discovery } from '../src/catalog/discovery.dto.js';
import { CatalogFixture } from './support/catalog-fixture.js';

const CATALOGS = path.resolve('test/data/catalogs');
const ids = readdirSync(CATALOGS)
  .map((file) => file.replace('.json', ''))
  .toSorted();

type RecordedTool = Record<string, unknown> & { name: string };

/** The tools a recorded catalog lists, the first of each name. */
function recorded(id: string): RecordedTool[] {
  const { pages } = JSON.parse(readFileSync(path.join(CATALOGS, `${id}.json`), 'utf8')) as {
    pages: { tools: RecordedTool[] }[];
  };
  const byName = new Map<string, RecordedTool>();
  for (const entry of pages.flatMap(({ tools }) => tools)) if (!byName.has(entry.name)) byName.set(entry.name, entry);
  return [...byName.values()];
}

describe('the catalogs of public servers', () => {
  let fixture: CatalogFixture;
  const discoveries = new Map<string, Discovery>();

  beforeAll(async () => {
    fixture = await CatalogFixture.open();
    for (const id of ids) await fixture.connect(id, 'catalog-provider.mjs', [path.join(CATALOGS, `${id}.json`)]);
    await fixture.agent('ann', { 'server-memory': ['search_nodes'], 'playwright-mcp': ['browser_navigate', 'gone'] });
    for (const outcome of await fixture.discovery.discoverMany(undefined)) {
      if (outcome.discovery === undefined) throw new Error(`${outcome.connectionId}: ${outcome.error?.detail}`);
      discoveries.set(outcome.connectionId, outcome.discovery);
    }
  });

  afterAll(async () => {
    const { rows } = await fixture.database.pool.query<{ tools: number; bytes: number }>(
      'select count(*)::int as tools, sum(octet_length(definition::text))::int as bytes from tools',
    );
    const warnings = [...discoveries].flatMap(([id, found]) => found.warnings.map(({ code }) => `${id} ${code}`));
    const told = warnings.length === 0 ? '' : `: ${[...new Set(warnings)].join(', ')}`;
    process.stdout.write(
      `${ids.length} catalogs, ${rows[0]?.tools} tools, ${rows[0]?.bytes} bytes, ${warnings.length} warnings${told}\n`,
    );
    await fixture.close();
  });

  it('are all discovered, tool by tool as they came', async () => {
    expect([...discoveries.keys()]).toEqual(ids);
    for (const id of ids) {
      const tools = recorded(id);
      expect(discoveries.get(id)).toMatchObject({
        revision: 1,
        toolCount: tools.length,
        added: tools.length,
        removed: 0,
      });
      const page = await fixture.tools.page(id, { limit: 200 });
      expect(page).toMatchObject({ nextCursor: null });
      // as text, so that the order of members counts too
      expect(page.items.map(({ definition }) => JSON.stringify(definition))).toEqual(
        tools.map((tool) => JSON.stringify(tool)),
      );
    }
  });

  it('change nothing when they are discovered again', async () => {
    const again = await fixture.discovery.discover('notion-mcp-server');
    expect(again).toMatchObject({ revision: 2, added: 0, removed: 0, changed: 0 });
    expect(again.warnings).toEqual(discoveries.get('notion-mcp-server')?.warnings);
  });

  it('leave their summary with the connection', async () => {
    const { catalog } = await fixture.connections.require('server-memory');
    expect(catalog).toMatchObject({ revision: 1, toolCount: recorded('server-memory').length, warnings: [] });
    expect(catalog?.serverName).toBe('memory-server');
  });

  it('are listed by provider: with grants first, then by name, page by page', async () => {
    const seen: string[] = [];
    const query = { agentId: 'ann', visibility: 'all' as const, limit: 10 };
    let after: string | undefined;
    do {
      const page = await fixture.providers.listWithCatalog({ ...query, after });
      expect(page.total).toBe(ids.length);
      seen.push(...page.providers.map(({ id }) => id));
      after = page.nextCursor ?? undefined;
    } while (after !== undefined);
    const rest = ids.filter((id) => id !== 'playwright-mcp' && id !== 'server-memory');
    expect(seen).toEqual(['playwright-mcp', 'server-memory', ...rest]);
    const { providers } = await fixture.providers.listWithCatalog({ ...query, query: 'PLAYWRIGHT' });
    expect(providers).toMatchObject([
      { id: 'playwright-mcp', catalogToolCount: recorded('playwright-mcp').length, grantedToolCount: 1 },
    ]);
  });

  it('are searched together, the same on every page and at most once a tool', async () => {
    const query = { agentId: 'ann', visibility: 'all' as const, query: 'take a screenshot of the page' };
    const whole = await fixture.search.search({ ...query, limit: 200 });
    expect(whole.hits[0]?.name).toContain('screenshot');
    const names = whole.hits.map(({ providerId, name }) => `${providerId} ${name}`);
    expect(new Set(names).size).toBe(names.length);
    const paged: string[] = [];
    let cursor: string | undefined;
    while (paged.length < 36) {
      const page = await fixture.search.search({ ...query, limit: 12, cursor });
      expect(page.totalCount).toBe(whole.totalCount);
      paged.push(...page.hits.map(({ providerId, name }) => `${providerId} ${name}`));
      cursor = page.nextCursor ?? undefined;
      expect(cursor).toBeDefined();
    }
    expect(paged).toEqual(names.slice(0, 36));
  });

  it('give every tool back for its exact name', async () => {
    for (const id of ids) {
      for (const { name } of recorded(id)) {
        const { hits } = await fixture.search.search({
          agentId: 'ann',
          visibility: 'all',
          providerId: id,
          query: name,
          limit: 1,
        });
        expect(hits[0]?.name).toBe(name);
      }
    }
  });

  it('come without a query in catalog order, granted tools first', async () => {
    const { hits, totalCount } = await fixture.search.search({ agentId: 'ann', visibility: 'all', limit: 5 });
    expect(totalCount).toBe(ids.reduce((sum, id) => sum + recorded(id).length, 0));
    const first = ids[0] ?? '';
    const begin = recorded(first).map(({ name }) => ({ providerId: first, name, granted: false }));
    expect(hits).toMatchObject([
      { providerId: 'playwright-mcp', name: 'browser_navigate', granted: true },
      { providerId: 'server-memory', name: 'search_nodes', granted: true },
      ...begin.slice(0, 3),
    ]);
  });

  it('show an agent with visibility granted what it holds and nothing else', async () => {
    const eyes = { agentId: 'ann', visibility: 'granted' as const };
    const { hits, totalCount } = await fixture.search.search({ ...eyes, query: 'browser navigate search', limit: 20 });
    expect(totalCount).toBe(2);
    expect(hits.map(({ name }) => name).toSorted()).toEqual(['browser_navigate', 'search_nodes']);
    const { providers, total } = await fixture.providers.listWithCatalog({ ...eyes, limit: 50 });
    expect(total).toBe(2);
    expect(providers).toMatchObject([
      { id: 'playwright-mcp', catalogToolCount: 1, grantedToolCount: 1 },
      { id: 'server-memory', catalogToolCount: 1, grantedToolCount: 1 },
    ]);
    expect(await fixture.providers.resolve('calc-mcp', eyes)).toEqual({ kind: 'none' });
    expect(await fixture.providers.resolve('calc-mcp')).toMatchObject({ kind: 'found' });
  });

  it('are ranked within one provider, page by page', async () => {
    const query = { query: 'issue', limit: 5 };
    const first = await fixture.tools.page('server-github-legacy', query);
    expect(first.items).toHaveLength(5);
    const second = await fixture.tools.page('server-github-legacy', { ...query, cursor: first.nextCursor ?? '' });
    const names = [...first.items, ...second.items].map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names.slice(0, 5).every((name) => name.includes('issue'))).toBe(true);
    await expect(
      fixture.tools.page('server-github-legacy', { query: 'file', limit: 5, cursor: first.nextCursor ?? '' }),
    ).rejects.toMatchObject({ code: 'cursor_invalid' });
  });
});
