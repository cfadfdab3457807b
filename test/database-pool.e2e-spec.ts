import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { createPool } from '../src/database-pool.js';
import { createEmptyDatabase, type TestDatabase } from './support/test-database.js';

describe('the connection pool', () => {
  let database: TestDatabase;
  let pool: pg.Pool;
  let other: pg.Pool;
  let dropped: Error[];

  beforeAll(async () => {
    database = await createEmptyDatabase();
    dropped = [];
    const onConnectionError = (error: Error): number => dropped.push(error);
    pool = createPool({
      connectionString: database.connectionString,
      max: 2,
      applicationName: 'pooled',
      onConnectionError,
    });
    other = database.pool('other');
  });

  afterAll(async () => {
    await pool.end();
    await database.drop();
  });

  const terminatePooled = (): Promise<unknown> =>
    other.query("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'pooled'");

  it('reads bigint as a number, timestamptz as a Date and numeric as text', async () => {
    const { rows } = await pool.query(
      "select count(*) as n, 9223372036854775807 as most, '2026-01-02T03:04:05Z'::timestamptz as at, 1.50 as price",
    );
    expect(rows).toEqual([{ n: 1, most: '9223372036854775807', at: new Date('2026-01-02T03:04:05Z'), price: '1.50' }]);
  });

  it('replaces an idle connection that was dropped, and reports it once', async () => {
    await pool.query('select 1');
    dropped.length = 0;
    const removed = new Promise((resolve) => pool.once('remove', resolve));
    await terminatePooled();
    await removed;
    expect(dropped.map(({ message }) => message)).toEqual(['terminating connection due to administrator command']);
    expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  });

  it('survives the loss of a connection in use, which costs only its own query', async () => {
    const client = await pool.connect();
    const query = client.query('select pg_sleep(30)');
    await Promise.all([expect(query).rejects.toThrow('terminating connection'), terminatePooled()]);
    client.release(true);
    expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  });

  it('survives the loss of a connection that is checked out and at rest', async () => {
    const client = await pool.connect();
    const ended = new Promise((resolve) => client.once('end', () => resolve(undefined)));
    await terminatePooled();
    await ended;
    await expect(client.query('select 1')).rejects.toThrow(/not queryable/);
    client.release(true);
    expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  });

  it('takes a host and names in place of a connection string', async () => {
    const url = new URL(database.connectionString);
    const separate = createPool({
      host: decodeURIComponent(url.hostname),
      ...(url.port === '' ? {} : { port: Number(url.port) }),
      user: url.username,
      password: decodeURIComponent(url.password),
      database: url.pathname.slice(1),
      max: 1,
      applicationName: 'separate',
    });
    try {
      const { rows } = await separate.query(
        "select current_database() as name, current_setting('application_name') as app",
      );
      expect(rows).toEqual([{ name: url.pathname.slice(1), app: 'separate' }]);
    } finally {
      await separate.end();
    }
  });
});
