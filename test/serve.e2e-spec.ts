import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, existsSync, rmSync } from 'node:fs';
import net, { type AddressInfo } from 'node:net';
import path from 'node:path';
import { createToken } from '../src/token.js';
import { Api } from './support/api.js';
import { processesIn } from './support/processes.js';
import { overStdio } from './support/real-providers.js';
import { temporaryDataDirectory } from './support/temporary-data-directory.js';
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from './support/test-database.js';
import { startWarren, TEST_KEYRING } from './support/warren.js';
import { WarrenCommand } from './support/warren-command.js';

const OTHER_KEYRING = `test:${Buffer.alloc(32, 8).toString('base64')}`;

describe('warren serve', () => {
  let root: string;
  let started: WarrenCommand[];

  beforeEach(() => {
    root = temporaryDataDirectory();
    started = [];
  });

  afterEach(async () => {
    for (const command of started) await command.signal('SIGTERM');
    const left = processesIn(root);
    rmSync(root, { recursive: true, force: true });
    expect(left).toEqual([]);
  });

  const warren = (args: string[], environment: Record<string, string> = {}): WarrenCommand => {
    const own = { HOME: root, PORT: '0', WARREN_DATA_DIR: path.join(root, 'data') };
    const command = new WarrenCommand(args, { environment: { ...own, ...environment } });
    started.push(command);
    return command;
  };

  describe('will not start', () => {
    let database: TestDatabase;

    beforeEach(async () => {
      database = await createTestDatabase();
    });

    afterEach(() => database.drop());

    const refusal = async (
      environment: Record<string, string>,
      args = ['serve'],
    ): Promise<{ code: number | null; errors: string }> => {
      const command = warren(args, environment);
      const { code } = await command.ended;
      expect(command.output).toBe('');
      return { code, errors: command.errors };
    };

    it('with another keyring than the database was sealed with, and writes nothing', async () => {
      const first = await startWarren({ database });
      await first.api.expect(201, 'POST', '/api/connections', {
        ...overStdio('sealed', 'everything'),
        environmentVariables: [{ name: 'TOKEN', value: 'a secret worth keeping' }],
      });
      expect(await first.stop()).toBe(0);
      const before = await contents(database);
      const { code, errors } = await refusal({
        DATABASE_URL: database.connectionString,
        WARREN_SECRET_KEYS: OTHER_KEYRING,
      });
      expect(code).toBe(78);
      expect(errors).toBe(
        'The keyring is not the one this database was sealed with: put the right key back. Nothing was changed.\n',
      );
      expect(await contents(database)).toEqual(before);
    });

    it('with other bytes for a key that only some secrets are sealed under, and rotates nothing to them', async () => {
      const key = (byte: number): string => Buffer.alloc(32, byte).toString('base64');
      const first = await startWarren({ database });
      expect(await first.stop()).toBe(0);
      const second = await startWarren({
        database,
        environment: { WARREN_SECRET_KEYS: `new:${key(1)},${TEST_KEYRING}` },
      });
      await second.api.expect(201, 'POST', '/api/connections', {
        ...overStdio('sealed', 'everything'),
        environmentVariables: [{ name: 'TOKEN', value: 'a secret worth keeping' }],
      });
      expect(await second.stop()).toBe(0);
      const before = await contents(database);
      const wrong = {
        DATABASE_URL: database.connectionString,
        WARREN_SECRET_KEYS: `new:${key(2)},${TEST_KEYRING}`,
      };
      for (const args of [['serve'], ['secrets', 'rotate']]) {
        const { code, errors } = await refusal(wrong, args);
        expect([code, errors]).toEqual([
          78,
          expect.stringContaining('its key new is another than the one of that name'),
        ]);
      }
      expect(await contents(database)).toEqual(before);
    });

    it('without a keyring for a database of its own', async () => {
      expect(await refusal({ DATABASE_URL: database.connectionString })).toEqual({
        code: 78,
        errors:
          'With DATABASE_URL set, Warren needs a keyring: set WARREN_SECRET_KEYS or WARREN_SECRET_KEYS_FILE ' +
          '(`warren secrets new-key` prints an entry).\n',
      });
    });

    it('when its embedded database is there and the key file is not', async () => {
      const first = warren(['serve']);
      await first.says(/serves at/);
      await first.signal('SIGTERM');
      const keyFile = path.join(root, 'data/secret.key');
      rmSync(keyFile);
      const { code, errors } = await refusal({});
      expect(code).toBe(78);
      expect(errors).toBe(
        `The keyring of this database is missing: put ${keyFile} back, or set WARREN_SECRET_KEYS. Nothing was changed.\n`,
      );
      expect(existsSync(keyFile)).toBe(false);
    });

    it.each(['keys', 'ring:short', 'a:b,c'])(
      'with the malformed keyring %s, which it does not repeat',
      async (keyring) => {
        const { code, errors } = await refusal({
          DATABASE_URL: database.connectionString,
          WARREN_SECRET_KEYS: keyring,
        });
        expect(code).toBe(78);
        expect(errors).toMatch(/^The keyring is not right: /);
        expect(errors.trim().split('\n')).toHaveLength(1);
      },
    );

    it('with a bad environment, and names every problem at once', async () => {
      const { code, errors } = await refusal({
        PORT: '70000',
        LOG_LEVEL: 'loud',
        WARREN_TYPO: '1',
        WARREN_STDIO: 'maybe',
        DATABASE_URL: 'mysql://u:hunter22@h/d',
      });
      expect(code).toBe(78);
      for (const name of ['PORT', 'LOG_LEVEL', 'WARREN_TYPO', 'WARREN_STDIO', 'DATABASE_URL'])
        expect(errors).toContain(`- ${name} `);
      expect(errors).not.toContain('hunter22');
    });

    it('with a malformed WARREN_ADMIN_KEY, which it does not repeat', async () => {
      const malformed = `${createToken('operator').token.slice(0, -1)}!`;
      const { code, errors } = await refusal({
        DATABASE_URL: database.connectionString,
        WARREN_SECRET_KEYS: TEST_KEYRING,
        WARREN_ADMIN_KEY: malformed,
      });
      expect(code).toBe(78);
      expect(errors).toContain('WARREN_ADMIN_KEY');
      expect(errors).not.toContain(malformed);
    });

    it('on a database that a newer Warren has changed', async () => {
      const pool = database.pool();
      await pool.query("insert into warren_migrations (position, name) values (9999, '9999-from-the-future')");
      const { code, errors } = await refusal({
        DATABASE_URL: database.connectionString,
        WARREN_SECRET_KEYS: TEST_KEYRING,
      });
      expect(code).toBe(1);
      expect(errors).toContain('The database schema is newer than this Warren: it holds 9999-from-the-future.');
    });

    it('on a database that it may not write', async () => {
      const role = `reader_${randomBytes(6).toString('hex')}`;
      const empty = await createEmptyDatabase();
      const pool = empty.pool();
      await pool.query(`create role ${role} login password 'hunter22'`);
      try {
        const url = Object.assign(new URL(empty.connectionString), { username: role, password: 'hunter22' });
        const { code, errors } = await refusal({ DATABASE_URL: url.href, WARREN_SECRET_KEYS: TEST_KEYRING });
        expect(code).toBe(1);
        expect(errors).toMatch(
          /^Warren needs a database that it owns, .*: permission denied for schema public\. .*owner.*\n$/,
        );
      } finally {
        await pool.query(`drop role ${role}`);
        await empty.drop();
      }
    });

    it('on a port that is in use', async () => {
      const other = net.createServer().listen(0, '127.0.0.1');
      await once(other, 'listening');
      const { port } = other.address() as AddressInfo;
      try {
        const { code, errors } = await refusal({ PORT: String(port) });
        expect(code).toBe(1);
        expect(errors).toContain(`127.0.0.1:${port} is in use by another program. Set PORT to a free port`);
      } finally {
        other.close();
      }
    });

    it('without its database', async () => {
      const { code, errors } = await refusal({
        DATABASE_URL: 'postgresql://nobody:hunter22@127.0.0.1:1/none',
        WARREN_SECRET_KEYS: TEST_KEYRING,
      });
      expect(code).toBe(1);
      expect(errors).toMatch(
        /^The database cannot be reached: connect ECONNREFUSED 127\.0\.0\.1:1\. Check DATABASE_URL/,
      );
      expect(errors).not.toContain('hunter22');
    });
  });

  it('prints the effective configuration with secrets masked', async () => {
    const adminKey = createToken('operator').token;
    const command = warren(['config'], {
      DATABASE_URL: 'postgresql://warren:hunter22@db/warren',
      WARREN_ADMIN_KEY: adminKey,
      WARREN_SECRET_KEYS: TEST_KEYRING,
      LOG_LEVEL: 'debug',
    });
    expect(await command.ended).toEqual({ code: 0, signal: null });
    expect(command.output).toMatch(/^LOG_LEVEL +debug +\(environment\)/m);
    expect(command.output).toMatch(/^HOST +127\.0\.0\.1 +\(default\)/m);
    for (const secret of ['hunter22', adminKey, TEST_KEYRING.split(':')[1] ?? ''])
      expect(command.output).not.toContain(secret);
  });

  it('lets an operator create a key beside it, on its embedded database', async () => {
    const server = warren(['serve']);
    const [, url = ''] = await server.says(/serves at (http:\S+)/);
    const command = warren(['keys', 'create', '--scope', 'admin', '--name', 'second']);
    expect(await command.ended).toEqual({ code: 0, signal: null });
    expect(command.output).toMatch(/^wop_\w+\n$/);
    const operator = new Api(url, command.output.trim());
    const created = await operator.expect(201, 'POST', '/api/keys', { name: 'third', scopes: ['read'] });
    expect(created.key).toMatch(/^wop_/);
    expect(await server.signal('SIGTERM')).toEqual({ code: 0, signal: null });
  });

  it('warns of a key file that others may read', async () => {
    const keyFile = path.join(root, 'data/secret.key');
    const first = warren(['keys', 'create', '--scope', 'read']);
    expect(await first.ended).toEqual({ code: 0, signal: null });
    expect(first.errors).not.toContain('key file');
    chmodSync(keyFile, 0o640);
    const second = warren(['keys', 'create', '--scope', 'read']);
    expect(await second.ended).toEqual({ code: 0, signal: null });
    expect(second.errors).toContain('other users may read the key file');
    expect(second.errors).toContain(keyFile);
  });

  it('creates a key on an embedded database that nobody serves, and leaves nothing running', async () => {
    const command = warren(['keys', 'create', '--scope', 'read']);
    expect(await command.ended).toEqual({ code: 0, signal: null });
    expect(processesIn(root)).toEqual([]);
    const server = warren(['serve']);
    const [, url = ''] = await server.says(/serves at (http:\S+)/);
    expect((await new Api(url, command.output.trim()).get('/api/agents')).status).toBe(200);
  });

  it('stops although nobody reads its log any more', async () => {
    const server = warren(['serve']);
    await server.says(/serves at/);
    server.closeOutput();
    expect(await server.signalGroup('SIGTERM')).toEqual({ code: 0, signal: null });
  });
});

/** A fingerprint of every table. */
async function contents(database: TestDatabase): Promise<Record<string, unknown>> {
  const pool = database.pool();
  const { rows } = await pool.query<{ name: string }>(
    "select tablename as name from pg_tables where schemaname = 'public' order by 1",
  );
  const found: Record<string, unknown> = {};
  for (const { name } of rows) {
    const table = await pool.query(
      `select count(*)::int as rows, md5(string_agg(t::text, '' order by t::text)) as hash from ${name} t`,
    );
    found[name] = table.rows[0];
  }
  return found;
}
