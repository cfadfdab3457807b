import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { prepareCatalog } from '../src/catalog/prepared-catalog.js';
import { Redactor } from '../src/redactor.js';
import { CatalogFixture, tool } from './support/catalog-fixture.js';

let fixture: CatalogFixture;
const everyone = { agentId: 'ann', visibility: 'all' as const };

beforeAll(async () => {
  fixture = await CatalogFixture.open();
});

afterAll(() => fixture.close());

beforeEach(async () => {
  await fixture.database.pool.query('delete from providers');
  await fixture.database.pool.query('delete from agents');
});

/** Stores a catalog without a provider behind it. */
async function store(id: string, entries: unknown[]): Promise<void> {
  const { tools } = await prepareCatalog(entries, Redactor.empty);
  await fixture.database.transaction(async (transaction) => {
    const connection = await fixture.discoveryRepository.lock(transaction, id);
    await fixture.tools.replace(
      transaction,
      id,
      tools.map(({ stored }) => stored),
    );
    await fixture.connections.recordDiscovery(transaction, id, {
      revision: (connection?.catalog?.revision ?? 0) + 1,
      discoveredAt: new Date().toISOString(),
      toolCount: tools.length,
      protocolVersion: null,
      serverName: null,
      serverVersion: null,
      warnings: [],
    });
  });
}

async function provider(id: string, name: string, entries: unknown[]): Promise<void> {
  await fixture.connect(id, 'script-provider.mjs', ['none'], { name });
  await store(id, entries);
}

const found = async (
  query: string,
  eyes: Parameters<CatalogFixture['search']['search']>[0] | object = {},
): Promise<string[]> => {
  const { hits } = await fixture.search.search({ ...everyone, query, limit: 20, ...eyes });
  return hits.map(({ providerId, name }) => `${providerId}/${name}`);
};

describe('the look-up of a provider', () => {
  it('prefers an exact id to any name, then takes the only name in any case', async () => {
    await provider('alpha', 'Beta', []);
    await provider('beta', 'Ünique', []);
    await provider('three', 'Twin', []);
    await provider('two', 'TWIN', []);
    expect(await fixture.providers.resolve('beta')).toMatchObject({ kind: 'found', provider: { id: 'beta' } });
    expect(await fixture.providers.resolve('BETA')).toMatchObject({ kind: 'found', provider: { id: 'alpha' } });
    expect(await fixture.providers.resolve('üNIQUE')).toMatchObject({ kind: 'found', provider: { id: 'beta' } });
    expect(await fixture.providers.resolve('twin')).toEqual({ kind: 'ambiguous', candidates: ['three', 'two'] });
    for (const unknown of ['', 'be', 'ALPHA', 'beta\0', 'x'.repeat(10_000)]) {
      expect(await fixture.providers.resolve(unknown)).toEqual({ kind: 'none' });
    }
  });

  it('tells an agent of visibility granted only of those it holds something of', async () => {
    await provider('three', 'Twin', [tool('a')]);
    await provider('two', 'TWIN', [tool('a')]);
    await fixture.agent('ann', { two: ['a'] });
    const eyes = { agentId: 'ann', visibility: 'granted' as const };
    expect(await fixture.providers.resolve('twin', eyes)).toMatchObject({ kind: 'found', provider: { id: 'two' } });
    expect(await fixture.providers.resolve('three', eyes)).toEqual({ kind: 'none' });
  });

  it('finds disabled ones, which are listed and searched nowhere', async () => {
    await provider('p', 'P', [tool('alone')]);
    await fixture.connect('undiscovered', 'script-provider.mjs', ['none']);
    await fixture.change('p', { enabled: false });
    expect(await fixture.providers.resolve('p')).toMatchObject({ provider: { enabled: false, hasCatalog: true } });
    expect(await fixture.providers.resolve('undiscovered')).toMatchObject({ provider: { hasCatalog: false } });
    expect(await fixture.providers.listWithCatalog({ ...everyone, limit: 5 })).toEqual({
      providers: [],
      total: 0,
      nextCursor: null,
    });
    expect(await found('alone')).toEqual([]);
  });
});

describe('filters', () => {
  it('hide tools everywhere, at once, and show them again', async () => {
    await provider(
      'p',
      'P',
      ['one', 'two', 'three'].map((name) => tool(name)),
    );
    await fixture.agent('ann', { p: ['one', 'two'] });
    expect(await found('tool')).toHaveLength(3);
    await fixture.change('p', { allowTools: ['one', 'two'], denyTools: ['two'] });
    expect(await found('tool')).toEqual(['p/one']);
    expect(await fixture.stored('p')).toEqual(['one']);
    expect(await fixture.tools.count('p')).toBe(1);
    expect(await fixture.tools.find('p', 'two')).toBeUndefined();
    expect((await fixture.tools.page('p', { limit: 9 })).items.map(({ name }) => name)).toEqual(['one']);
    expect((await fixture.tools.page('p', { limit: 9, query: 'tool' })).items.map(({ name }) => name)).toEqual(['one']);
    expect((await fixture.search.search({ ...everyone, limit: 9 })).totalCount).toBe(1);
    const { providers } = await fixture.providers.listWithCatalog({ ...everyone, limit: 5 });
    expect(providers).toMatchObject([{ catalogToolCount: 1, grantedToolCount: 1 }]);
    await fixture.change('p', { allowTools: [], denyTools: null });
    expect(await fixture.tools.count('p')).toBe(0);
    expect(await found('tool')).toEqual([]);
    await fixture.change('p', { allowTools: null });
    expect(await found('tool')).toHaveLength(3);
  });
});

describe('the search', () => {
  it('sees a new snapshot, a new name and a connection made anew under an old id', async () => {
    await provider('p', 'Plain', [tool('first')]);
    expect(await found('first')).toEqual(['p/first']);
    await store('p', [tool('second')]);
    expect(await found('first second')).toEqual(['p/second']);
    expect(await found('zebra')).toEqual([]);
    await fixture.change('p', { name: 'Zebra' });
    expect(await found('zebra')).toEqual(['p/second']);
    await fixture.database.pool.query('delete from providers');
    await provider('p', 'Zebra', [tool('third')]);
    await store('p', [tool('fourth')]);
    expect(await found('second third fourth')).toEqual(['p/fourth']);
  });

  it('reads terms that another version stored anew from the texts', async () => {
    await provider('p', 'P', [tool('queryDatabase')]);
    await fixture.database.pool.query(`update tools set search_terms = '{=00000000,nwrong}'`);
    expect(await found('databases')).toEqual(['p/queryDatabase']);
    expect(await found('wrong')).toEqual([]);
  });

  it('finds prefixes and parts of words, and the exact name first', async () => {
    await provider('p', 'P', [
      tool('list_repositories'),
      tool('repo', { description: '' }),
      tool('x', { description: 'a monorepository' }),
    ]);
    expect((await found('repo'))[0]).toBe('p/repo');
    expect((await found('repo')).toSorted()).toEqual(['p/list_repositories', 'p/repo', 'p/x']);
  });

  it('counts grants that are given and taken at once', async () => {
    await provider('p', 'P', [tool('a'), tool('b')]);
    await fixture.agent('ann');
    const granted = async (): Promise<string[]> =>
      (await fixture.search.search({ ...everyone, limit: 9 })).hits
        .filter((hit) => hit.granted)
        .map(({ name }) => name);
    expect(await granted()).toEqual([]);
    await fixture.database.pool.query(`insert into grants (agent_id, provider_id, tool_name) values ('ann', 'p', 'b')`);
    expect(await granted()).toEqual(['b']);
    await fixture.database.pool.query('delete from grants');
    expect(await granted()).toEqual([]);
  });

  it('shows the tools of mods', async () => {
    await fixture.database.pool.query(
      `insert into providers (id, kind, name, name_folded, transport) values ('mod.m', 'mod', 'M', 'm', 'mod')`,
    );
    expect(await fixture.providers.listWithCatalog({ ...everyone, limit: 5 })).toMatchObject({
      providers: [{ id: 'mod.m', catalogToolCount: 0 }],
    });
    for (const name of ['weather', 'tides']) {
      const { tools } = await prepareCatalog([tool(name)], Redactor.empty);
      await fixture.database.transaction((transaction) =>
        fixture.tools.replace(
          transaction,
          'mod.m',
          tools.map(({ stored }) => stored),
        ),
      );
      expect(await found('weather tides')).toEqual([`mod.m/${name}`]);
    }
  });

  it('keeps cursors to their question', async () => {
    await provider(
      'p',
      'P',
      Array.from({ length: 5 }, (_, at) => tool(`tool ${at}`)),
    );
    const { nextCursor } = await fixture.search.search({ ...everyone, query: 'tool', limit: 2 });
    const next = { ...everyone, limit: 2, cursor: nextCursor ?? '' };
    expect((await fixture.search.search({ ...next, query: 'tool' })).hits).toHaveLength(2);
    await expect(fixture.search.search({ ...next, query: 'other' })).rejects.toMatchObject({ code: 'cursor_invalid' });
    await expect(fixture.search.search({ ...next, agentId: 'bob', query: 'tool' })).rejects.toMatchObject({
      code: 'cursor_invalid',
    });
  });
});

describe('ten thousand tools', () => {
  it('are stored in seconds and searched in a moment', async () => {
    const verbs = ['create', 'list', 'delete', 'update', 'search'];
    const things = [
      'issue',
      'invoice',
      'screenshot',
      'database',
      'folder',
      'message',
      'branch',
      'calendar',
      'ticket',
      'chart',
    ];
    const large = (at: number): Record<string, unknown> =>
      tool(`${verbs[at % 5]}_${things[Math.floor(at / 5) % 10]}_${at}`, {
        description: `${verbs[at % 5]} one ${things[Math.floor(at / 5) % 10]} of group ${at % 97}. ${'More words about it. '.repeat(20)}`,
        inputSchema: {
          type: 'object',
          properties: Object.fromEntries(
            Array.from({ length: 20 }, (_, n) => [
              `field${n}`,
              { type: 'string', description: `The value of field ${n}` },
            ]),
          ),
        },
      });
    await fixture.agent('ann');
    const times: Record<string, number> = {};
    const timed = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
      const start = performance.now();
      const result = await work();
      times[what] = Math.round(performance.now() - start);
      return result;
    };
    const entries = Array.from({ length: 5_000 }, (_, at) => large(at));
    for (const id of ['big1', 'big2']) await fixture.connect(id, 'script-provider.mjs', ['none']);
    await timed('prepare 5,000 and store', () => store('big1', entries));
    await store('big2', entries);
    await timed('prepare 5,000 and store unchanged', () => store('big2', entries));
    await timed('first search', () => found('invoice'));
    for (const query of ['create an invoice', 'list files in a folder', 'screenshot', 'update_branch_33']) {
      await timed(`search "${query}"`, () => found(query));
    }
    await timed('no query', () => fixture.search.search({ ...everyone, limit: 12 }));
    await timed('providers', () => fixture.providers.listWithCatalog({ ...everyone, limit: 50 }));
    process.stdout.write(
      `${Object.entries(times)
        .map(([what, ms]) => `${what}: ${ms} ms`)
        .join('; ')}\n`,
    );
    expect(await found('update_branch_33')).toContain('big1/update_branch_33');
    expect(times['search "create an invoice"']).toBeLessThan(2_000);
  });
});
