import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { admin } from './support/author.js';
import {
  type ConnectionsBench,
  type ConnectionsRoom,
  http,
  openConnectionsBench,
  refused,
} from './support/connections-bench.js';

const API_KEY = 'sk-live-0123456789abcdef';

let bench: ConnectionsBench;
let changes: ConnectionsRoom['changes'];
let connections: ConnectionsRoom['connections'];
let sessions: ConnectionsRoom['sessions'];

beforeAll(async () => {
  bench = await openConnectionsBench();
});

afterAll(() => bench.close());

beforeEach(async () => {
  await bench.empty();
  ({ changes, connections, sessions } = bench.room());
});

describe('listing', () => {
  beforeEach(async () => {
    for (const [id, name, enabled] of [
      ['a', '100% Ärger', true],
      ['b', 'under_score', false],
      ['C', 'Plain', true],
    ] as const) {
      await changes.create(admin, http(name, { id, enabled }));
    }
    sessions.connected.add('b');
  });

  const ids = async (query: Parameters<ConnectionsRoom['connections']['list']>[0]): Promise<string[]> =>
    (await connections.list(query)).items.map(({ id }) => id).toSorted();

  it('filters by part of id or name in any case, taking every character as it is', async () => {
    expect(await ids({ query: 'äRGER' })).toEqual(['a']);
    expect(await ids({ query: '%' })).toEqual(['a']);
    expect(await ids({ query: '_' })).toEqual(['b']);
    expect(await ids({ query: 'c' })).toEqual(['C', 'b']);
    expect(await ids({ query: '' })).toEqual(['C', 'a', 'b']);
  });

  it('filters by enabled and by live state', async () => {
    expect(await ids({ enabled: 'false' })).toEqual(['b']);
    expect(await ids({ enabled: 'true' })).toEqual(['C', 'a']);
    expect(await ids({ state: 'connected' })).toEqual(['b']);
    expect(await ids({ state: 'idle', enabled: 'false' })).toEqual([]);
  });

  it.each([undefined, 'idle' as const])('pages through all of them, state %s', async (state) => {
    await Promise.all(Array.from({ length: 7 }, (_, index) => changes.create(admin, http(`more ${index}`))));
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await connections.list({ limit: 3, ...(state ? { state } : {}), ...(cursor ? { cursor } : {}) });
      expect(page.items.length).toBeLessThanOrEqual(3);
      seen.push(...page.items.map(({ id }) => id));
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).toHaveLength(state === undefined ? 10 : 9);
  });
});

describe('starting and stopping', () => {
  it('is for keep_alive only, and starting for enabled ones', async () => {
    await changes.create(admin, http('e', { id: 'e' }));
    await expect(connections.start(admin, 'e')).rejects.toEqual(refused('lifecycle_not_keep_alive'));
    await expect(connections.stop(admin, 'e')).rejects.toEqual(refused('lifecycle_not_keep_alive'));
    await changes.create(admin, http('k', { id: 'k', lifecycle: 'keep_alive', enabled: false }));
    await expect(connections.start(admin, 'k')).rejects.toEqual(refused('connection_disabled'));
  });

  it('stops on every replica by a new launch revision', async () => {
    const { launchRevision } = await changes.create(admin, http('k', { id: 'k', lifecycle: 'keep_alive' }));
    await connections.start(admin, 'k');
    const stopped = await connections.stop(admin, 'k');
    expect(sessions.asked).toEqual(['start k', 'stop k']);
    expect(stopped).toMatchObject({ revision: 1 });
    expect(stopped.launchRevision).not.toBe(launchRevision);
    const { launchRevision: renewed } = stopped;
    expect(await connections.launchStates(['k', 'nowhere'])).toEqual(
      new Map([['k', { enabled: true, launchRevision: renewed }]]),
    );
  });
});

describe('discovery at creation', () => {
  it('tells a failure as a warning', async () => {
    await changes.create(admin, http('c', { id: 'c' }));
    expect(await connections.discoverNew(admin, 'c')).toEqual([]);
    connections.onDiscoveryWanted(() => Promise.resolve({ code: 'x', message: 'no answer' }));
    expect(await connections.discoverNew(admin, 'c')).toEqual([
      { field: 'catalog', code: 'discovery_failed', message: 'no answer' },
    ]);
    connections.onDiscoveryWanted(() => Promise.reject(new Error(`broke on ${API_KEY}`)));
    const [warning] = await connections.discoverNew(admin, 'c');
    expect(warning).toMatchObject({ code: 'discovery_failed' });
    expect(warning?.message).not.toContain(API_KEY);
  });
});

describe('what is learned', () => {
  it('is kept without touching the revision', async () => {
    await changes.create(admin, http('c', { id: 'c' }));
    const summary = {
      revision: 1,
      discoveredAt: '2026-01-01T00:00:00.000Z',
      toolCount: 2,
      protocolVersion: null,
      serverName: null,
      serverVersion: null,
      warnings: [],
    };
    await bench.database.transaction((transaction) => connections.recordDiscovery(transaction, 'c', summary));
    await connections.recordEra('c', { era: 'modern', learnedAt: '2026-01-01T00:00:00.000Z' });
    await connections.recordLastKnown('c', { status: 'ready', at: '2026-01-01T00:00:00.000Z' });
    expect(connections.present(await connections.require('c'))).toMatchObject({
      revision: 1,
      catalog: summary,
      lastKnown: { status: 'ready' },
    });
    expect((await connections.launchOf('c'))?.era).toMatchObject({ era: 'modern' });
    await connections.recordEra('c', null);
    expect((await connections.launchOf('c'))?.era).toBeNull();
  });
});
