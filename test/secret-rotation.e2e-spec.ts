import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { Keyring, SecretBox, SecretBoxError } from '../src/secret-box.js';
import { sealedTables } from '../src/sealed-tables.js';
import { NEW_KEY, OLD_KEY, RotationBench } from './secret-rotation.bench.js';
import { eventually } from './support/eventually.js';
import { randomNumbers } from './support/random-numbers.js';
import { createTestDatabase, type TestDatabase } from './support/test-database.js';
import { verifyCount } from './support/verify-count.js';
import { startWarren } from './support/warren.js';

const BOTH = `${NEW_KEY},${OLD_KEY}`;
const KILLS = Math.min(verifyCount(4, 1), 50);
/** Of a hundred secrets each: far more than what one killed rotation gets done. */
const CONNECTIONS_A_KILL = 15;
const SEED = 7;

let database: TestDatabase;

beforeEach(async () => {
  database = await createTestDatabase();
});

afterEach(() => database.drop());

describe('the keyring', () => {
  it('is changed while a server runs: both keys, rotate, the new key alone', async () => {
    const environment = (keyring: string) => ({ environment: { WARREN_SECRET_KEYS: keyring }, database });
    const first = await startWarren(environment(OLD_KEY));
    await first.api.expect(201, 'POST', '/api/connections', {
      id: 'web',
      name: 'Web',
      transport: 'http',
      baseUrl: 'https://a.example/mcp',
      apiKey: 'a key worth keeping',
      headers: [{ name: 'X-Team', value: 'a header worth keeping' }],
    });
    const { key } = await first.api.expect(201, 'POST', '/api/keys', { name: 'k', scopes: ['read'] });
    const bench = await RotationBench.open(database, 0);
    const run = async (keyring: string, ...args: string[]) => {
      const command = bench.command(keyring, ...args);
      const { code } = await command.ended;
      return { code, said: command.output + command.errors };
    };

    const refused = await run(BOTH, 'secrets', 'rotate');
    expect(refused.code).toBe(1);
    expect(refused.said).toContain('1 running Warren has another current key than new');
    expect(await first.stop()).toBe(0);

    const early = await run(NEW_KEY, 'serve');
    expect(early).toMatchObject({
      code: 78,
      said: expect.stringContaining('it lacks the key old, under which 1 secret is'),
    });

    const second = await startWarren(environment(BOTH));
    await second.api.expect(201, 'POST', '/api/agents', { id: 'a', name: 'A' });
    const rotated = await run(BOTH, 'secrets', 'rotate');
    expect(rotated.code).toBe(0);
    expect(rotated.said).toContain(
      '1 secrets were sealed anew; all are under new now.\nThe keyring needs no more: old.',
    );
    expect((await run(BOTH, 'secrets', 'status')).said).toContain('new: 1 secrets, the current key\nold: 0 secrets\n');
    expect((await second.api.as(key).get('/api/agents')).status).toBe(200);
    const { body } = await second.api.get('/api/audit?action=secrets.rotate');
    expect(body.items).toMatchObject([
      { outcome: 'done', actor: { kind: 'command' }, target: { kind: 'keyring', id: 'new' }, after: { resealed: 1 } },
      { outcome: 'requested', after: { sealed: [{ table: 'server_secrets', keyId: 'old', count: 1 }] } },
    ]);
    expect(await second.stop()).toBe(0);

    const third = await startWarren(environment(NEW_KEY));
    expect((await third.api.as(key).get('/api/agents')).body.items).toMatchObject([{ id: 'a' }]);
    expect(await third.stop()).toBe(0);
    expect((await run(OLD_KEY, 'serve')).code).toBe(78);
  });

  it('is not changed before secrets that others hold are sealed anew as well', async () => {
    const bench = await RotationBench.open(database, 1);
    const client = await bench.pool.connect();
    try {
      await client.query('begin');
      await client.query(`select from connection_secrets where name = 'V7' for update`);
      const rotation = bench.command(BOTH, 'secrets', 'rotate');
      await eventually(async () => expect(await bench.left()).toBe(1), 30_000);
      await client.query('rollback');
      expect(await rotation.ended).toMatchObject({ code: 0 });
      expect(rotation.output).toContain('100 secrets were sealed anew');
      expect(await bench.left()).toBe(0);
    } finally {
      client.release();
    }
  });

  it('is not changed beside a server that has other bytes for the id of the new key', async () => {
    const start = (keyring: string) => startWarren({ environment: { WARREN_SECRET_KEYS: keyring }, database });
    expect(await (await start(OLD_KEY)).stop()).toBe(0);
    // nothing is sealed under the new key yet
    const idle = await start(BOTH);
    try {
      const bench = await RotationBench.open(database, 0);
      const namesake = `new:${Buffer.alloc(32, 77).toString('base64')},${OLD_KEY}`;
      const command = bench.command(namesake, 'secrets', 'rotate');
      expect(await command.ended).toMatchObject({ code: 1 });
      expect(command.errors).toContain('1 running Warren has another current key than new');
    } finally {
      await idle.stop();
    }
  });

  it(
    'may be rotated and killed at any moment, under load, and nothing is lost',
    async () => {
      const random = randomNumbers(SEED);
      const bench = await RotationBench.open(database, KILLS * CONNECTIONS_A_KILL);
      const ids = [...bench.model.keys()];
      let [reads, failures, changes] = [0, 0, 0];
      const over = new AbortController();
      const reading = Array.from({ length: 3 }, async () => {
        while (!over.signal.aborted) {
          const id = ids[Math.floor(random() * ids.length)] ?? '';
          const values = await bench.read(id).catch(() => []);
          reads += 1;
          if (values.length !== 100) failures += 1;
          await delay(1);
        }
      });
      const writing = (async () => {
        while (!over.signal.aborted) {
          await bench.change(ids[Math.floor(random() * ids.length)] ?? '', Math.floor(random() * 100));
          changes += 1;
          await delay(5);
        }
      })();

      for (let kill = 0; kill < KILLS; kill += 1) {
        const [before, changed] = [await bench.left(), changes];
        const rotation = bench.command(BOTH, 'secrets', 'rotate');
        // more than the writer can have done, whose last change may not be counted yet
        await eventually(
          async () => expect(before - (await bench.left())).toBeGreaterThan(changes - changed + 1),
          30_000,
        );
        await delay(random() * 20);
        expect(await rotation.signal('SIGKILL')).toEqual({ code: null, signal: 'SIGKILL' });
        expect(await bench.left()).toBeGreaterThan(0);
      }
      const last = bench.command(BOTH, 'secrets', 'rotate');
      expect(await last.ended).toMatchObject({ code: 0 });
      over.abort();
      await Promise.all([...reading, writing]);

      const left = await bench.left();
      process.stdout.write(
        `rotation under load, seed ${SEED}: kills ${KILLS}, reads ${reads}, failed ${failures}, changes ${changes}, left ${left}\n`,
      );
      expect([failures, left]).toEqual([0, 0]);
      expect(reads).toBeGreaterThan(KILLS);
      expect(changes).toBeGreaterThan(KILLS);
      for (const [id, values] of bench.model) expect((await bench.read(id)).toSorted()).toEqual(values.toSorted());
    },
    120_000 + KILLS * 10_000,
  );
});

describe('sealed values', () => {
  it('are all known to the rotation', async () => {
    const { rows } = await database.pool().query<{ name: string }>(
      `select distinct table_name::text as name from information_schema.columns
       where table_schema = 'public' and (column_name = 'key_id' or column_name like '%sealed%' and data_type = 'bytea')`,
    );
    expect(rows.map(({ name }) => name).toSorted()).toEqual(sealedTables.map(({ name }) => name).toSorted());
  });

  it('are refused with any bit flipped, and in the place of any other', async () => {
    const box = await SecretBox.create(Keyring.parse(OLD_KEY));
    const rows = [
      ...['a', 'b'].map((name) => ({ table: 'server_secrets', row: { name } })),
      ...['api_key', 'environment', 'header', 'query_parameter', 'argument'].flatMap((kind) =>
        ['a', 'b'].flatMap((name) =>
          ['x', 'y'].map((id) => ({ table: 'connection_secrets', row: { connection_id: id, kind, name } })),
        ),
      ),
      ...['/a', '/b'].map((path) => ({ table: 'legacy_event_imports', row: { source_path: path } })),
    ].map(({ table, row }) => {
      const context = sealedTables.find(({ name }) => name === table)?.contextOf(row);
      if (context === undefined) throw new Error(`${table} is not known`);
      return { context, sealed: box.seal('a secret', context) };
    });
    const isRefused = (sealed: Buffer, at: number): boolean => {
      const context = rows[at]?.context;
      if (context === undefined) throw new Error('no such row');
      try {
        box.open(sealed, context);
        return false;
      } catch (error) {
        return error instanceof SecretBoxError;
      }
    };
    let [flips, swaps] = [0, 0];
    for (const [at, { sealed }] of rows.entries()) {
      expect(isRefused(sealed, at)).toBe(false);
      for (let bit = 0; bit < sealed.length * 8; bit += 1) {
        const flipped = Buffer.from(sealed);
        flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        if (!isRefused(flipped, at)) throw new Error(`bit ${bit} of row ${at} may be flipped`);
        flips += 1;
      }
      for (const [other, { sealed: theirs }] of rows.entries()) {
        if (other === at) continue;
        if (!isRefused(theirs, at)) throw new Error(`row ${other} may stand in the place of row ${at}`);
        swaps += 1;
      }
    }
    process.stdout.write(`sealed values: ${flips} flipped bits and ${swaps} swaps refused\n`);
    expect(swaps).toBe(rows.length * (rows.length - 1));
  });
});
