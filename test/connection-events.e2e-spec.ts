import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ConnectionEventsRepository } from '../src/connections/connection-events.repository.js';
import { ConnectionEvents, type ImportCounts } from '../src/connections/connection-events.service.js';
import type { PastEvent } from '../src/connections/past-events.js';
import { Database } from '../src/database.js';
import { replaceConnections } from './support/bare-connections.js';
import { createTestDatabase, type TestDatabase } from './support/test-database.js';

let testDatabase: TestDatabase;
let database: Database;
let events: ConnectionEvents;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = new Database(testDatabase.pool('events'));
  events = new ConnectionEvents(new ConnectionEventsRepository(database), database);
});

afterAll(async () => {
  await database.close();
  await testDatabase.drop();
});

beforeEach(() => replaceConnections(database.pool, ['a', 'b', 'c']));

const fill = (id: string, count: number): Promise<unknown> =>
  database.pool.query(
    `insert into connection_events (connection_id, status) select $1, 'old' from generate_series(1, $2)`,
    [id, count],
  );

async function countsOf(): Promise<Record<string, number>> {
  const { rows } = await database.pool.query<{ connection_id: string; total: number }>(
    'select connection_id, count(*)::integer as total from connection_events group by 1',
  );
  return Object.fromEntries(rows.map((row) => [row.connection_id, row.total]));
}

describe('events of connections', () => {
  it('are listed newest first, in pages', async () => {
    for (const status of ['starting', 'ready', 'unavailable', 'stopped']) await events.record('a', status);
    await events.record('b', 'ready');
    const first = await events.list('a', { limit: 3 });
    expect(first.items.map(({ status }) => status)).toEqual(['stopped', 'unavailable', 'ready']);
    expect(typeof first.items[0]?.id).toBe('number');
    const second = await events.list('a', { limit: 3, cursor: first.nextCursor ?? '' });
    expect(second.items.map(({ status }) => status)).toEqual(['starting']);
    expect(second.nextCursor).toBeNull();
  });

  it('hold stable words only', async () => {
    await events.record('a', 'unavailable', 'process_exited');
    await events.record('a', 'unavailable', 'connect to https://user:hunter2@a.example failed');
    expect((await events.list('a', {})).items.map(({ reason }) => reason)).toEqual(['unknown', 'process_exited']);
  });

  it('of a connection that is gone are not kept', async () => {
    await events.record('nowhere', 'ready');
    expect(await countsOf()).toEqual({});
  });

  it('are 200 in all: the connection with the most loses its oldest', async () => {
    await fill('a', 50);
    await fill('b', 120);
    await fill('c', 30);
    await events.record('a', 'ready');
    expect(await countsOf()).toEqual({ a: 51, b: 119, c: 30 });
    await events.record('b', 'ready');
    expect(await countsOf()).toEqual({ a: 51, b: 119, c: 30 });
    const { items } = await events.list('b', { limit: 200 });
    expect(items.filter(({ status }) => status === 'ready')).toHaveLength(1);
  });

  it('come down to 200 from more, and stay there under many at once', async () => {
    await fill('a', 230);
    await Promise.all(Array.from({ length: 20 }, (_, index) => events.record(index % 2 === 0 ? 'b' : 'c', 'ready')));
    expect(await countsOf()).toEqual({ a: 180, b: 10, c: 10 });
  });

  it('refuse a cursor of another list', async () => {
    for (const position of ['[1.5]', '[7]', '["2026-01-01T00:00:00Z",1.5]', '["never",1]']) {
      const cursor = Buffer.from(position).toString('base64url');
      await expect(events.list('a', { cursor })).rejects.toEqual(expect.objectContaining({ code: 'cursor_invalid' }));
    }
  });
});

describe('events taken over from elsewhere', () => {
  const past = (connectionId: string, minute: number, status = 'ready'): PastEvent => ({
    connectionId,
    at: new Date(Date.UTC(2025, 0, 1, 0, minute)),
    status,
    reason: null,
  });
  const takeOver = (of: PastEvent[]): Promise<ImportCounts> =>
    database.transaction((transaction) => events.takeOver(transaction, of));

  it('are listed by their time, marked as imported, in pages', async () => {
    await events.record('a', 'starting');
    await takeOver([past('a', 2), past('a', 1, 'stopped'), past('a', 2, 'unavailable')]);
    const { items } = await events.list('a', {});
    expect(items.map(({ status, imported }) => [status, imported])).toEqual([
      ['starting', false],
      ['unavailable', true],
      ['ready', true],
      ['stopped', true],
    ]);
    expect(items[1]?.at).toBe('2025-01-01T00:02:00.000Z');
    const seen: string[] = [];
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page = await events.list('a', { limit: 1, ...(cursor === undefined ? {} : { cursor }) });
      seen.push(...page.items.map(({ status }) => status));
      cursor = page.nextCursor;
    }
    expect(seen).toEqual(['starting', 'unavailable', 'ready', 'stopped']);
  });

  it('are counted, not stored, when there is no such connection', async () => {
    const counts = await takeOver([past('a', 1), past('nowhere', 1), past("x'); drop table", 1)]);
    expect(counts).toEqual({ imported: 1, surplus: 0, skipped: 2 });
    expect(await countsOf()).toEqual({ a: 1 });
  });

  it('never displace newer ones of the same connection', async () => {
    await fill('a', 200);
    expect(await takeOver([past('a', 1), past('a', 2)])).toEqual({ imported: 0, surplus: 2, skipped: 0 });
    expect((await events.list('a', { limit: 200 })).items.filter(({ imported }) => imported)).toEqual([]);
  });

  it.each([1, 2, 3, 4, 5])('leave what taking one away after the other leaves (seed %i)', async (seed) => {
    const next = randomNumbers(seed);
    const stored = { a: next(250), b: next(100), c: next(40) };
    for (const [id, count] of Object.entries(stored)) if (count > 0) await fill(id, count);
    const taken = Array.from({ length: next(600) }, () => past(['a', 'b', 'c'][next(3)] ?? 'a', next(2_000)));
    const expected = { ...stored };
    for (const { connectionId } of taken) expected[connectionId as 'a'] += 1;
    // only the numbers: which of two equals goes first depends on the times of their oldest
    while (Object.values(expected).reduce((sum, count) => sum + count) > 200) {
      const most = Math.max(...Object.values(expected));
      const [fullest] = Object.entries(expected).find(([, count]) => count === most) ?? ['a'];
      expected[fullest as 'a'] -= 1;
    }
    await takeOver(taken);
    const left = await countsOf();
    for (const [id, count] of Object.entries(expected)) {
      expect(Math.abs((left[id] ?? 0) - count)).toBeLessThanOrEqual(1);
      const newest = taken.filter(({ connectionId }) => connectionId === id).map(({ at }) => at.toISOString());
      const { items } = await events.list(id, { limit: 200 });
      const kept = items.filter(({ imported }) => imported).map(({ at }) => at);
      expect(kept).toEqual(newest.toSorted().toReversed().slice(0, kept.length));
    }
    expect(Object.values(left).reduce((sum, count) => sum + count)).toBe(
      Math.min(200, taken.length + stored.a + stored.b + stored.c),
    );
  });
});

/** Whole numbers from 0 to `below - 1`, the same for the same seed. */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
