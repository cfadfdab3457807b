import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { DiscoveryService } from '../src/catalog/discovery.service.js';
import { auditLog } from './support/author.js';
import { CatalogFixture, tool } from './support/catalog-fixture.js';

let fixture: CatalogFixture;

beforeEach(async () => {
  fixture = await CatalogFixture.open();
});

afterEach(() => fixture.close());

const twoPages = { pages: [{ tools: [tool('a'), tool('b')] }, { tools: [tool('c')] }] };

describe('a discovery', () => {
  it('counts what was added, removed and changed, and keeps the new order', async () => {
    await fixture.connectScript('p', twoPages);
    expect(await fixture.discovery.discover('p')).toMatchObject({
      connectionId: 'p',
      revision: 1,
      toolCount: 3,
      added: 3,
      removed: 0,
      changed: 0,
      warnings: [],
    });
    fixture.script('p', { pages: [{ tools: [tool('c', { title: 'See' }), tool('d'), tool('a')] }] });
    expect(await fixture.discovery.discover('p')).toMatchObject({ revision: 2, added: 1, removed: 1, changed: 1 });
    expect(await fixture.stored('p')).toEqual(['c', 'd', 'a']);
    expect(await fixture.tools.find('p', 'c')).toMatchObject({ title: 'See' });
    expect(await fixture.tools.find('p', 'b')).toBeUndefined();
  });

  it('stores a change of what the hash leaves out, and does not count it', async () => {
    await fixture.connectScript('p', { pages: [{ tools: [tool('a', { _meta: { level: 1 } })] }] });
    await fixture.discovery.discover('p');
    fixture.script('p', { pages: [{ tools: [tool('a', { _meta: { level: 2 } })] }] });
    expect(await fixture.discovery.discover('p')).toMatchObject({ added: 0, removed: 0, changed: 0 });
    expect((await fixture.tools.find('p', 'a'))?.definition).toMatchObject({ _meta: { level: 2 } });
  });

  it('takes odd names as data, the first of equal ones, and leaves out impossible ones alone', async () => {
    const odd = [
      'a/b.c d',
      '__proto__',
      'constructor',
      'Ünï✓',
      'search',
      'Search',
      'search',
      '',
      'x\u0007y',
      'n\0l',
      '\ud800',
    ];
    const many = odd.map((name, place) => tool(name, { description: `number ${place}` }));
    await fixture.connectScript('p', { pages: [{ tools: [...many, 'no tool', null, { title: 'nameless' }] }] });
    const { toolCount, warnings } = await fixture.discovery.discover('p');
    expect(await fixture.stored('p')).toEqual(['a/b.c d', '__proto__', 'constructor', 'Ünï✓', 'search', 'Search']);
    expect(toolCount).toBe(6);
    expect(await fixture.tools.find('p', 'search')).toMatchObject({ description: 'number 4' });
    expect(await fixture.tools.find('p', 'n\0l')).toBeUndefined();
    const codes = warnings.map(({ code }) => code).toSorted();
    expect(codes).toEqual(['duplicate_name', ...Array(5).fill('name_invalid'), 'tool_invalid', 'tool_invalid']);
  });

  it('makes texts storable and warns of schemas that cannot be checked, also when nothing changed', async () => {
    const unusable = { type: 'object', properties: { a: { $ref: 'https://example.com/schema.json' } } };
    await fixture.connectScript('p', {
      pages: [
        {
          tools: [
            tool('nul', { description: 'a\0b \ud83d' }),
            tool('odd', { inputSchema: unusable }),
            tool('none', { inputSchema: 'x' }),
          ],
        },
      ],
    });
    const first = await fixture.discovery.discover('p');
    expect(first.warnings.map(({ tool: name, code }) => [name, code])).toEqual([
      ['none', 'input_schema_invalid'],
      ['odd', 'schema_unchecked'],
    ]);
    expect((await fixture.discovery.discover('p')).warnings).toEqual(first.warnings);
    expect(await fixture.tools.find('p', 'nul')).toMatchObject({ description: 'a\u2400b \ufffd' });
    expect(await fixture.tools.find('p', 'none')).toMatchObject({
      inputSchema: { type: 'object' },
      definition: { inputSchema: 'x' },
    });
  });

  it('stores no secret of the connection, and no tool whose name holds one', async () => {
    const secret = 'sk-0123456789abcdef';
    const leaking = tool('leak', {
      description: `key ${secret}`,
      inputSchema: { type: 'object', [secret]: { default: secret } },
    });
    await fixture.connectScript(
      'p',
      { pages: [{ tools: [leaking, tool(`with-${secret}`)] }] },
      { environmentVariables: [{ name: 'KEY', value: secret }] },
    );
    const discovery = await fixture.discovery.discover('p');
    const { rows } = await fixture.database.pool.query(
      'select tools.*, catalog from tools join connections on connections.id = provider_id',
    );
    expect(JSON.stringify([rows, discovery])).not.toContain(secret);
    expect(await fixture.stored('p')).toEqual(['leak']);
    expect(discovery.warnings).toMatchObject([{ code: 'name_invalid', tool: 'with-[redacted]' }]);
  });

  it('finds an empty catalog where the provider has no tool list', async () => {
    await fixture.connectScript('p', { pages: [{ error: { code: -32_601, message: 'Method not found' } }] });
    const discovery = await fixture.discovery.discover('p');
    expect(discovery).toMatchObject({ toolCount: 0, warnings: [{ code: 'tools_not_supported' }] });
  });

  it('is shared by callers at the same time; one that leaves does not end it', async () => {
    await fixture.connectScript('p', twoPages);
    const leaving = new AbortController();
    const runs = [
      fixture.discovery.discover('p'),
      fixture.discovery.discover('p', { signal: leaving.signal }),
      fixture.discovery.discover('p'),
    ];
    leaving.abort(new Error('left'));
    const [first, left, third] = await Promise.allSettled(runs);
    expect(left).toMatchObject({ status: 'rejected', reason: { message: 'left' } });
    expect(first).toMatchObject({ status: 'fulfilled', value: { revision: 1 } });
    expect(third).toEqual(first);
    expect(fixture.asked('p').filter((event) => event === 'start')).toHaveLength(1);
  });

  it('of replicas at once stores one result after the other', async () => {
    const { connections, discoveryRepository, tools, database, reader } = fixture;
    await fixture.connectScript('p', twoPages);
    const replicas = 4;
    const read = reader.read.bind(reader);
    let waiting = 0;
    let go = (): void => undefined;
    const allRead = new Promise<void>((resolve) => (go = resolve));
    // all have read before any stores
    reader.read = async (launch, signal) => {
      const reading = await read(launch, signal);
      waiting += 1;
      if (waiting === replicas) go();
      await allRead;
      return reading;
    };
    const found = await Promise.all(
      Array.from({ length: replicas }, () =>
        new DiscoveryService(connections, reader, discoveryRepository, tools, database, auditLog(database)).discover(
          'p',
        ),
      ),
    );
    const inOrder = found.toSorted((left, right) => left.revision - right.revision);
    expect(inOrder.map(({ revision, added }) => [revision, added])).toEqual([
      [1, 3],
      [2, 0],
      [3, 0],
      [4, 0],
    ]);
    expect(await fixture.stored('p')).toEqual(['a', 'b', 'c']);
  });

  it('of an old provider is not stored for the new one', async () => {
    const { connections, discoveryRepository, tools, database, reader } = fixture;
    await fixture.connectScript('p', { pages: [{ tools: [tool('old')] }] });
    await fixture.connectScript('q', { pages: [{ tools: [tool('new')] }] });
    const { args } = await connections.require('q');
    const read = reader.read.bind(reader);
    let readings = 0;
    // the settings change when the list of the old provider is complete
    reader.read = async (launch, signal) => {
      const reading = await read(launch, signal);
      readings += 1;
      if (readings === 1) await fixture.change('p', { args });
      return reading;
    };
    const discovery = new DiscoveryService(
      connections,
      reader,
      discoveryRepository,
      tools,
      database,
      auditLog(database),
    );
    expect(await discovery.discover('p')).toMatchObject({ revision: 1, toolCount: 1 });
    expect(readings).toBe(2);
    expect(await fixture.stored('p')).toEqual(['new']);
    await discovery.close();
  });

  it('begins again with the new provider when its settings change in the middle', async () => {
    await fixture.connectScript('p', { pages: [{ tools: [tool('old')] }, { silent: true }] });
    await fixture.connectScript('q', { pages: [{ tools: [tool('new')] }] });
    const { args } = await fixture.connections.require('q');
    const running = fixture.discovery.discover('p');
    await fixture.untilAsked('p', 'list');
    await fixture.change('p', { args });
    expect(await running).toMatchObject({ revision: 1, toolCount: 1 });
    expect(await fixture.stored('p')).toEqual(['new']);
  });
});

describe('the refresher', () => {
  it('follows a provider that says its tools changed, without being driven in circles', async () => {
    fixture.listeners.onToolsChanged = (id) => fixture.refresher.toolsChanged(id);
    await fixture.connectScript('p', { ...twoPages, listChangedAfterList: true }, { lifecycle: 'keep_alive' });
    await fixture.discovery.discover('p');
    fixture.script('p', { pages: [{ tools: [tool('fresh')] }], listChangedAfterList: true });
    for (let tries = 0; tries < 200 && (await fixture.stored('p'))[0] !== 'fresh'; tries += 1) {
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    expect(await fixture.stored('p')).toEqual(['fresh']);
    // the list that refreshed it announced a change again: that one has to wait
    expect(fixture.asked('p').filter((event) => event === 'list').length).toBeLessThanOrEqual(4);
  });

  it('refreshes old catalogs only, and tells a failure in the log alone', async () => {
    for (const id of ['old', 'broken', 'new', 'off']) await fixture.connectScript(id, twoPages);
    await fixture.discovery.discoverMany(undefined);
    await fixture.change('off', { enabled: false });
    await fixture.connectScript('never', twoPages);
    await fixture.database.pool.query(
      `update connections set catalog = jsonb_set(catalog, '{discoveredAt}', '"2020-01-01T00:00:00.000Z"') where id <> 'new' and catalog is not null`,
    );
    fixture.script('broken', { exitAtStart: 1 });
    await fixture.refresher.refreshOld();
    await fixture.refresher.refreshOld();
    const revisions = await Promise.all(
      ['old', 'broken', 'new', 'off', 'never'].map(
        async (id) => (await fixture.connections.require(id)).catalog?.revision,
      ),
    );
    expect(revisions).toEqual([2, 1, 1, 1, undefined]);
    expect(fixture.log.filter((line) => line.includes('could not be refreshed'))).toHaveLength(1);
  });
});

describe('closing', () => {
  it('ends what runs and starts nothing more', async () => {
    await fixture.connectScript('p', { pages: [{ silent: true }] });
    const running = fixture.discovery.discover('p').catch((error: unknown) => error);
    await fixture.untilAsked('p', 'list');
    await fixture.discovery.close();
    expect(await running).toMatchObject({ code: 'shutting_down' });
    await expect(fixture.discovery.discover('p')).rejects.toMatchObject({ code: 'shutting_down' });
  });
});
