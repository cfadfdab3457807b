import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { migrations } from '../migrations/index.js';
import {
  migrateToLatest,
  MigrationError,
  SchemaHistoryError,
  SchemaNewerError,
  type Migration,
} from '../src/migrator.js';
import { createEmptyDatabase, type TestDatabase } from './support/test-database.js';

const first: Migration = { name: '0001-first', up: 'create table first (id int); insert into first values (1);' };
const second: Migration = { name: '0002-second', up: 'create table second (id int)' };
const third: Migration = { name: '0003-third', up: 'create table third (id int)' };

describe('the migrator', () => {
  let database: TestDatabase;
  let pool: pg.Pool;

  beforeEach(async () => {
    database = await createEmptyDatabase();
    pool = database.pool();
  });

  afterEach(() => database.drop());

  const recorded = async (): Promise<string[]> => {
    const { rows } = await pool.query<{ name: string }>('select name from warren_migrations order by position');
    return rows.map(({ name }) => name);
  };

  const tableExists = async (name: string): Promise<boolean> => {
    const { rows } = await pool.query<{ found: boolean }>('select to_regclass($1) is not null as found', [name]);
    return rows[0]?.found === true;
  };

  it('applies every step in order to an empty database and records it', async () => {
    await expect(migrateToLatest(pool, [first, second])).resolves.toEqual({ applied: ['0001-first', '0002-second'] });
    expect(await recorded()).toEqual(['0001-first', '0002-second']);
    expect((await pool.query('select id from first')).rows).toEqual([{ id: 1 }]);
  });

  it('applies only what is missing', async () => {
    await migrateToLatest(pool, [first]);
    await expect(migrateToLatest(pool, [first, second, third])).resolves.toEqual({
      applied: ['0002-second', '0003-third'],
    });
    await expect(migrateToLatest(pool, [first, second, third])).resolves.toEqual({ applied: [] });
  });

  it('applies each step once when 20 start at the same time', async () => {
    const slow: Migration = { name: '0002-slow', up: 'select pg_sleep(0.2); create table slow (id int)' };
    const starters = Array.from({ length: 20 }, (_, index) => database.pool(`starter-${index}`));
    const results = await Promise.all(starters.map((starter) => migrateToLatest(starter, [first, slow])));
    const applied = results.map((result) => result.applied).filter((names) => names.length > 0);
    expect(applied).toEqual([['0001-first', '0002-slow']]);
    expect((await pool.query('select id from first')).rows).toHaveLength(1);
  });

  it('keeps nothing of a run in which a later step fails, and names that step', async () => {
    const broken: Migration = { name: '0002-broken', up: 'create table half (id int); select 1 / 0' };
    const run = migrateToLatest(pool, [first, broken]);
    await expect(run).rejects.toThrow(MigrationError);
    await expect(run).rejects.toThrow('Migration 0002-broken failed: division by zero');
    expect(await tableExists('first')).toBe(false);
    expect(await tableExists('half')).toBe(false);
    expect(await tableExists('warren_migrations')).toBe(false);
    await expect(migrateToLatest(pool, [first, second])).resolves.toEqual({ applied: ['0001-first', '0002-second'] });
  });

  it('refuses a schema that a newer Warren made, by the unknown step', async () => {
    await migrateToLatest(pool, [first, second, third]);
    const run = migrateToLatest(pool, [first, second]);
    await expect(run).rejects.toThrow(SchemaNewerError);
    await expect(run).rejects.toThrow('newer than this Warren: it holds 0003-third');
  });

  it.each([
    ['a step was put in between', [first, { name: '0001b-between', up: 'select 1' }, second]],
    ['two steps changed places', [second, first]],
  ])('refuses an edited history: %s', async (_, edited) => {
    await migrateToLatest(pool, [first, second]);
    const run = migrateToLatest(pool, edited);
    await expect(run).rejects.toThrow(SchemaHistoryError);
    await expect(run).rejects.toThrow(/step \d is recorded as 000/);
    expect(await recorded()).toEqual(['0001-first', '0002-second']);
  });

  it("applies Warren's own migrations to an empty database, and finds nothing to do the second time", async () => {
    const { applied } = await migrateToLatest(pool, migrations);
    expect(applied).toEqual(migrations.map(({ name }) => name));
    await expect(migrateToLatest(pool, migrations)).resolves.toEqual({ applied: [] });
  });
});
