import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFile, mkdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import type pg from 'pg';
import { ConnectionEventsRepository } from '../src/connections/connection-events.repository.js';
import { ConnectionEvents } from '../src/connections/connection-events.service.js';
import { LegacyEventsImport } from '../src/connections/legacy-events.import.js';
import { legacyTextContext } from '../src/sealed-tables.js';
import { LegacyImportsRepository } from '../src/connections/legacy-imports.repository.js';
import { Database } from '../src/database.js';
import { Logger } from '../src/logger.js';
import { OwnSecrets } from '../src/own-secrets.js';
import { Keyring, SecretBox, SecretBoxError } from '../src/secret-box.js';
import { replaceConnections } from './support/bare-connections.js';
import { temporaryDataDirectory } from './support/temporary-data-directory.js';
import { createTestDatabase, type TestDatabase } from './support/test-database.js';
import { TEST_KEYRING } from './support/warren.js';

const MAX_BYTES = 16 * 1024 * 1024;
const CANARY = 'canary-token-of-a-provider';

let testDatabase: TestDatabase;
let pool: pg.Pool;
let database: Database;
let box: SecretBox;
let directory: string;
let file: string;
let files = 0;
let log: Record<string, unknown>[];

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  pool = testDatabase.pool('legacy events');
  database = new Database(pool);
  box = await SecretBox.create(Keyring.parse(TEST_KEYRING));
  directory = temporaryDataDirectory();
});

afterAll(async () => {
  await database.close();
  await testDatabase.drop();
});

beforeEach(async () => {
  await pool.query('truncate legacy_event_imports');
  await replaceConnections(pool, ['files', 'search']);
  log = [];
  files += 1;
  file = join(directory, `mcp-provider-events-${files}.jsonl`);
});

function importer(on: Database = database): LegacyEventsImport {
  const logger = new Logger('info', new OwnSecrets([]), (line) => log.push(JSON.parse(line)));
  const events = new ConnectionEvents(new ConnectionEventsRepository(on), on);
  return new LegacyEventsImport(new LegacyImportsRepository(on), events, on, box, logger);
}

const row = (providerId: string, minute: number, members: Record<string, unknown> = {}): string =>
  JSON.stringify({ ts: new Date(Date.UTC(2026, 0, 1, 0, minute)), providerId, status: 'ready', ...members });

const TEXT = [
  row('files', 1, { status: 'starting' }),
  row('files', 2, { status: 'unavailable', error: `refused: ${CANARY}` }),
  row('search', 3),
  row('gone', 4),
  `not a row, but ${CANARY}`,
  row('files', 5, { status: 'unavailable', error: 'process_exited' }).slice(0, -3),
].join('\n');
const TEXT_COUNTS = { imported: 3, surplus: 0, skipped: 1, malformed: 2 };

async function stored(): Promise<Record<string, unknown>[]> {
  const { rows } = await pool.query(
    'select connection_id, at, status, reason, imported from connection_events order by at, id',
  );
  return rows;
}

async function receipts(): Promise<any[]> {
  return (await pool.query('select * from legacy_event_imports order by imported_at')).rows;
}

describe('a legacy event file', () => {
  it('becomes events marked as imported, and a receipt that holds it sealed', async () => {
    await writeFile(file, TEXT);
    const before = await stat(file);
    await importer().run(file);
    const facts = (await stored()).map(({ connection_id, status, reason, imported }) => ({
      [String(connection_id)]: [status, reason, imported],
    }));
    expect(facts).toEqual([
      { files: ['starting', null, true] },
      { files: ['unavailable', 'unknown', true] },
      { search: ['ready', null, true] },
    ]);
    expect((await stored())[2]?.['at']).toEqual(new Date('2026-01-01T00:03:00Z'));

    const [receipt, ...others] = await receipts();
    expect(others).toEqual([]);
    expect(receipt).toMatchObject({
      ...TEXT_COUNTS,
      source_path: file,
      text_bytes: Buffer.byteLength(TEXT),
      key_id: 'test',
    });
    expect(receipt.text_hash).toEqual(createHash('sha256').update(TEXT).digest());
    expect(Date.now() - receipt.imported_at.getTime()).toBeLessThan(60_000);
    expect(box.keyIdOf(receipt.sealed)).toBe(receipt.key_id);
    expect(box.open(receipt.sealed, legacyTextContext(file)).toString()).toBe(TEXT);
    expect(() => box.open(receipt.sealed, legacyTextContext(`${file}x`))).toThrow(SecretBoxError);

    expect(log).toMatchObject([{ level: 'info', msg: 'legacy events were imported', file, ...TEXT_COUNTS }]);
    const { rows } = await pool.query(`select e::text from connection_events e union all
      select r::text from legacy_event_imports r`);
    expect(JSON.stringify([log, rows])).not.toContain(CANARY);
    expect(receipt.sealed.includes(CANARY)).toBe(false);
    expect(await readFile(file, 'utf8')).toBe(TEXT);
    expect((await stat(file)).mtimeMs).toBe(before.mtimeMs);
  });

  it('is imported once for each path, however its path is written', async () => {
    await writeFile(file, TEXT);
    await importer().run(file);
    await appendFile(file, `\n${row('files', 9)}\n`);
    await importer().run(file);
    await importer().run(join(directory, 'a', '..', `mcp-provider-events-${files}.jsonl`));
    await rm(file);
    await importer().run(file);
    expect(await stored()).toHaveLength(3);
    expect(await receipts()).toHaveLength(1);
    expect(log.slice(1).map(({ level, msg }) => [level, msg])).toEqual(
      Array.from({ length: 3 }, () => ['info', 'the legacy events of this path were imported before']),
    );

    const other = `${file}.other`;
    await writeFile(other, TEXT);
    await importer().run(other);
    expect(await stored()).toHaveLength(6);
    expect((await receipts()).map(({ source_path }) => source_path)).toEqual([file, other]);
  });

  it('is imported once when eight start at the same time', async () => {
    await writeFile(file, TEXT);
    const starters = Array.from({ length: 8 }, (_, index) => new Database(testDatabase.pool(`starter ${index}`)));
    await Promise.all(starters.map((starter) => importer(starter).run(file)));
    await Promise.all(starters.map((starter) => starter.close()));
    expect(await stored()).toHaveLength(3);
    expect(await receipts()).toHaveLength(1);
    const messages = log.map(({ msg }) => msg);
    expect(messages.filter((message) => message === 'legacy events were imported')).toHaveLength(1);
    expect(
      messages.filter((message) => message === 'the legacy events of this path were imported before'),
    ).toHaveLength(7);
  });

  it('respects the bound of 200 events in all, newest first', async () => {
    await pool.query(`insert into connection_events (connection_id, status)
      select 'search', 'stopped' from generate_series(1, 50)`);
    const rows = Array.from({ length: 5_000 }, (_, index) => row('files', index));
    await writeFile(file, [...rows, row('search', 1)].join('\n'));
    await importer().run(file);
    const events = await stored();
    expect(events).toHaveLength(200);
    expect(events.filter(({ imported }) => imported === false)).toHaveLength(50);
    // search has 51 of them, its imported one the oldest, and files is the fullest
    expect(events.filter(({ connection_id }) => connection_id === 'search')).toHaveLength(51);
    expect(events[1]?.['at']).toEqual(new Date(Date.UTC(2026, 0, 1, 0, 5_000 - 149)));
    expect(log).toMatchObject([{ imported: 150, surplus: 4_851, skipped: 0, malformed: 0 }]);
  });

  it('takes rows of odd text without harm', async () => {
    const odd = ["x'); drop table connections; --", '{}', 'NULL', '"', '\\', 'null', '\ud800', 'mod.x'];
    await writeFile(file, odd.map((text, index) => row(text, index, { status: text, error: text })).join('\n'));
    await appendFile(file, `\n${row('files', 1, { status: 'null', error: 'null' })}\n`);
    await importer().run(file);
    expect(log).toMatchObject([{ imported: 1, surplus: 0, skipped: odd.length, malformed: 0 }]);
    expect(await stored()).toMatchObject([{ status: 'null', reason: 'unknown' }]);
  });

  it('may be empty', async () => {
    await writeFile(file, '');
    await importer().run(file);
    expect(await receipts()).toMatchObject([{ imported: 0, malformed: 0, text_bytes: 0 }]);
  });

  it('may have 16 MiB', async () => {
    const line = `${row('files', 1, { error: 'x'.repeat(1_000) })}\n`;
    const text = line.repeat(Math.floor(MAX_BYTES / line.length)).padEnd(MAX_BYTES, ' ');
    await writeFile(file, text);
    await importer().run(file);
    expect(log).toMatchObject([{ level: 'info', imported: 200, malformed: 0 }]);
    const [receipt] = await receipts();
    expect(receipt.text_bytes).toBe(MAX_BYTES);
    expect(box.open(receipt.sealed, legacyTextContext(file)).equals(Buffer.from(text))).toBe(true);
  });
});

describe('a file that cannot be imported', () => {
  let listening: Server | undefined;

  it.each<[string, string, () => Promise<unknown>]>([
    ['is missing', 'the file cannot be read (ENOENT)', async () => undefined],
    ['is a directory', 'the file is not a regular file', () => mkdir(file)],
    ['is a named pipe without a writer', 'the file is not a regular file', async () => execFileSync('mkfifo', [file])],
    [
      'is a socket',
      'the file cannot be read (ENXIO)',
      () =>
        new Promise<void>((resolve) => {
          listening = createServer().listen(file, resolve);
        }),
    ],
    [
      'is one byte over 16 MiB',
      `the file is larger than ${MAX_BYTES} bytes`,
      async () => {
        await writeFile(file, TEXT);
        await truncate(file, MAX_BYTES + 1);
      },
    ],
    ['is not UTF-8', 'the file is not valid UTF-8', () => writeFile(file, Buffer.from([...Buffer.from(TEXT), 0xff]))],
  ])('is named in the log, and leaves nothing: %s', async (_what, why, make) => {
    await make();
    try {
      await importer().run(file);
    } finally {
      await new Promise((closed) => (listening === undefined ? closed(undefined) : listening.close(closed)));
      listening = undefined;
    }
    expect(log).toMatchObject([{ level: 'warn', msg: `legacy events were not imported: ${why}`, file }]);
    expect(await stored()).toEqual([]);
    expect(await receipts()).toEqual([]);
  });

  it('is imported at a later start, once it can be', async () => {
    await importer().run(file);
    await writeFile(file, TEXT);
    await importer().run(file);
    expect(log.map(({ level }) => level)).toEqual(['warn', 'info']);
    expect(await stored()).toHaveLength(3);
  });
});

describe('an import that breaks off', () => {
  const breakAt = (table: string, event: string): Promise<unknown> =>
    pool.query(`
      create or replace function break_off() returns trigger language plpgsql as
        $$ begin raise exception 'broken off on purpose'; end $$;
      create trigger break_off before ${event} on ${table} for each row execute function break_off();
    `);
  const mend = (table: string): Promise<unknown> => pool.query(`drop trigger break_off on ${table}`);

  it.each([
    ['when its receipt is made', 'legacy_event_imports', 'insert'],
    ['when its events are stored', 'connection_events', 'insert'],
    ['when older events make room', 'connection_events', 'delete'],
    ['when its receipt is completed', 'legacy_event_imports', 'update'],
  ])('leaves nothing, and is made good by the next start: %s', async (_when, table, event) => {
    await pool.query(`insert into connection_events (connection_id, at, status)
      select 'files', '2025-01-01T00:00:00Z', 'stopped' from generate_series(1, 200)`);
    const before = await stored();
    await writeFile(file, TEXT);
    await breakAt(table, event);
    try {
      await importer().run(file);
    } finally {
      await mend(table);
    }
    expect(log).toMatchObject([
      { level: 'error', msg: 'legacy events were not imported', error: { message: 'broken off on purpose' } },
    ]);
    expect(JSON.stringify(log)).not.toContain(CANARY);
    expect(await stored()).toEqual(before);
    expect(await receipts()).toEqual([]);

    await importer().run(file);
    expect(log[1]).toMatchObject({ level: 'info', ...TEXT_COUNTS });
    expect((await stored()).filter(({ imported }) => imported)).toHaveLength(3);
    expect(await stored()).toHaveLength(200);
  });

  it('is said also when the database is away', async () => {
    await writeFile(file, TEXT);
    const ended = testDatabase.pool('ended');
    await ended.end();
    await importer(new Database(ended)).run(file);
    expect(log).toMatchObject([{ level: 'error', msg: 'legacy events were not imported' }]);
  });
});
