import { describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { migrations } from '../migrations/index.js';
import { createTestDatabase } from './support/test-database.js';

describe('a database for a test file', () => {
  it('has the schema and is nobody else’s', async () => {
    const [one, two] = await Promise.all([createTestDatabase(), createTestDatabase()]);
    try {
      const names = await one.pool().query('select name from warren_migrations order by position');
      expect(names.rows).toEqual(migrations.map(({ name }) => ({ name })));
      await one.pool().query('create table mine (id int)');
      const seen = await two.pool().query("select to_regclass('mine') as found");
      expect(seen.rows).toEqual([{ found: null }]);
    } finally {
      await Promise.all([one.drop(), two.drop()]);
    }
  });

  it('fails the file that keeps a client of a pool, by the name of the pool', async () => {
    const database = await createTestDatabase();
    await database.pool('forgetful').connect();
    await expect(database.drop()).rejects.toThrow('1 client(s) of pool "forgetful" not released');
  });

  it('fails the file that keeps a connection of its own, by the name of the connection', async () => {
    const database = await createTestDatabase();
    const client = new pg.Client({ connectionString: database.connectionString, application_name: 'stray' });
    client.on('error', () => undefined);
    await client.connect();
    await expect(database.drop()).rejects.toThrow('connection of "stray" (idle');
  });
});
