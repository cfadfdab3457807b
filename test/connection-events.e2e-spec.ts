import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ConnectionEventsRepository } from '../src/connections/connection-events.repository.js';
import { ConnectionEvents } from '../src/connections/connection-events.service.js';
import { Database } from '../src/database.js';
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

beforeEach(async () => {
  await database.pool.query('truncate providers cascade');
  for (const id of ['a', 'b', 'c']) {
    await database.pool.query(
      `insert into providers (id, kind, name, name_folded, transport) values ($1, 'connection', $1, $1, 'stdio')`,
      [id],
    );
    await database.pool.query(
      `insert into connections (id, lifecycle, connect_timeout_ms, call_timeout_ms, max_concurrent_calls,
         max_result_chars, session_scope, max_sessions)
       values ($1, 'keep_alive', 1, 1, 1, 1000, 'connection', 1)`,
      [id],
    );
  }
});

const fill = (id: string, count: number): Promise<unknown> =>
  database.pool.query(
    `insert into connection_events (connection_id, status) select $1, 'old' from generate_series(1, $2)`,
    [id, count],
  );

async function counts(): Promise<Record<string, number>> {
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
    expect(await counts()).toEqual({});
  });

  it('are 200 in all: the connection with the most loses its oldest', async () => {
    await fill('a', 50);
    await fill('b', 120);
    await fill('c', 30);
    await events.record('a', 'ready');
    expect(await counts()).toEqual({ a: 51, b: 119, c: 30 });
    await events.record('b', 'ready');
    expect(await counts()).toEqual({ a: 51, b: 119, c: 30 });
    const { items } = await events.list('b', { limit: 200 });
    expect(items.filter(({ status }) => status === 'ready')).toHaveLength(1);
  });

  it('come down to 200 from more, and stay there under many at once', async () => {
    await fill('a', 230);
    await Promise.all(Array.from({ length: 20 }, (_, index) => events.record(index % 2 === 0 ? 'b' : 'c', 'ready')));
    expect(await counts()).toEqual({ a: 180, b: 10, c: 10 });
  });

  it('refuse a cursor of another list', async () => {
    const cursor = Buffer.from('[1.5]').toString('base64url');
    await expect(events.list('a', { cursor })).rejects.toEqual(expect.objectContaining({ code: 'cursor_invalid' }));
  });
});
