import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { isRoot } from '../src/data-directory.js';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../src/embedded-postgres.js';
import { startOwner, type Owner } from './support/embedded-postgres-owner.js';
import { temporaryDataDirectory } from './support/temporary-data-directory.js';

const NOBODY = 65_534;

describe('the embedded database', () => {
  let root: string;
  let directory: string;
  let started: (() => Promise<void>)[];

  beforeEach(() => {
    root = temporaryDataDirectory();
    directory = path.join(root, 'data');
    started = [];
  });

  afterEach(async () => {
    for (const stop of started) await stop();
    const left = processesOf(root);
    rmSync(root, { recursive: true, force: true });
    if (left.length > 0) throw new Error(`Left running: ${left.join('; ')}`);
  });

  const start = async (settings?: Record<string, string>): Promise<EmbeddedPostgres> => {
    const database = await startEmbeddedPostgres(directory, settings);
    started.push(() => database.stop());
    return database;
  };

  const owner = async (uid?: number): Promise<Owner> => {
    const process = await startOwner(directory, uid);
    started.push(() => process.end());
    return process;
  };

  it('starts on nothing, on a private unix socket only', async () => {
    const database = await start();
    expect(database.adopted).toBe(false);
    expect(await ask(database, 'show server_version')).toMatch(/^18\./);
    expect(await ask(database, 'show listen_addresses')).toBe('');
    expect(mode(directory)).toBe(isRoot() ? 0o711 : 0o700);
    expect(mode(database.host)).toBe(0o700);
    expect(mode(path.join(directory, 'postgres'))).toBe(0o700);
    expect(mode(path.join(directory, 'postgres.log'))).toBe(0o600);
    expect(readdirSync(directory).toSorted()).toEqual(['owner.1', 'postgres', 'postgres.log', 'socket']);
  });

  it('keeps its data from one start to the next, and ends its process in between', async () => {
    const first = await start();
    await ask(first, 'create table kept as select 7 as value');
    await first.stop();
    expect(processesOf(root)).toEqual([]);
    const second = await start();
    expect(second.pid).not.toBe(first.pid);
    expect(await ask(second, 'select value from kept')).toBe(7);
  });

  it.each(['SIGKILL', 'SIGINT'] as const)(
    'adopts the server of an owner that a %s to its group ended',
    async (signal) => {
      const killed = await owner();
      await killed.signal(signal);
      const database = await start();
      expect(database).toMatchObject({ adopted: true, pid: killed.report.pid, host: killed.report.host });
      expect(await ask(database, 'select 1 as one')).toBe(1);
      await database.stop();
      expect(processesOf(root)).toEqual([]);
    },
  );

  it('recovers what was committed when owner and server were both killed', async () => {
    const killed = await owner();
    await query(killed.report.connectionString ?? '', 'create table kept as select 7 as value');
    await killed.signal('SIGKILL');
    process.kill(killed.report.pid ?? 0, 'SIGKILL');
    const database = await start();
    expect(database.adopted).toBe(false);
    expect(await ask(database, 'select value from kept')).toBe(7);
  });

  it('replaces a left-behind server that lost its socket', async () => {
    const killed = await owner();
    await killed.signal('SIGKILL');
    rmSync(killed.report.host ?? '', { recursive: true });
    const database = await start();
    expect(database.adopted).toBe(false);
    expect(await ask(database, 'select 1 as one')).toBe(1);
  });

  it('refuses a second owner in words that name the first, which goes on', async () => {
    const database = await start();
    const second = await owner();
    expect(second.report.error).toBe(
      `Another Warren (process ${process.pid}) is running on the data directory ${directory}. ` +
        'Stop it, or set WARREN_DATA_DIR to another directory.',
    );
    await expect(startEmbeddedPostgres(directory)).rejects.toThrow('Another Warren');
    expect(await ask(database, 'select 1 as one')).toBe(1);
    await database.stop();
    const third = await owner();
    expect(third.report).toMatchObject({ adopted: false });
  });

  it('has one owner out of 20 that start at once, also when they take over from a killed one', async () => {
    const killed = await owner();
    await killed.signal('SIGKILL');
    const starters = await Promise.all(Array.from({ length: 20 }, () => owner()));
    const winners = starters.filter(({ report }) => report.error === undefined);
    expect(winners.map(({ report }) => report.pid)).toEqual([killed.report.pid]);
    const refusals = starters.flatMap(({ report }) => report.error ?? []);
    expect(new Set(refusals)).toEqual(new Set([expect.stringContaining(`(process ${winners[0]?.pid})`)]));
  });

  it('starts although the id of its dead server now belongs to a stranger', async () => {
    const first = await start();
    const statusFile = path.join(directory, 'postgres/postmaster.pid');
    const status = readFileSync(statusFile, 'utf8');
    await first.stop();
    const account = statSync(path.join(directory, 'postgres'));
    const identity = isRoot() ? { uid: account.uid, gid: account.gid } : {};
    const stranger = spawn('sleep', ['60'], { ...identity, cwd: '/', stdio: 'ignore' });
    try {
      writeFileSync(statusFile, status.replace(/^\d+/, String(stranger.pid)));
      chownSync(statusFile, account.uid, account.gid);
      const second = await start();
      expect(second.adopted).toBe(false);
      expect(await ask(second, 'select 1 as one')).toBe(1);
      expect(stranger.exitCode ?? stranger.signalCode).toBeNull();
    } finally {
      stranger.kill('SIGKILL');
      await once(stranger, 'exit');
    }
  });

  it('works in a directory whose path is too long for a socket', async () => {
    directory = path.join(root, 'a-long-name-'.repeat(12));
    const database = await start();
    expect(await ask(database, 'select 1 as one')).toBe(1);
    expect(mode(database.host)).toBe(0o700);
    await expect(startEmbeddedPostgres(directory)).rejects.toThrow('Another Warren');
    await database.stop();
    expect(() => statSync(database.host)).toThrow('ENOENT');
  });

  it("reports a failed start with the end of the server's log, and lets go of the directory", async () => {
    await expect(start({ shared_buffers: 'plenty' })).rejects.toThrow(
      /did not start: it ended with exit code 1.*invalid value for parameter "shared_buffers": "plenty"/s,
    );
    expect(await ask(await start(), 'select 1 as one')).toBe(1);
  });

  it('names both versions when the data is of another PostgreSQL', async () => {
    mkdirSync(path.join(directory, 'postgres'), { recursive: true });
    writeFileSync(path.join(directory, 'postgres/PG_VERSION'), '17\n');
    await expect(start()).rejects.toThrow(/made by PostgreSQL 17, and this Warren brings 18/);
  });

  it('says which path is not a directory', async () => {
    writeFileSync(directory, '');
    await expect(start()).rejects.toThrow(`The data directory ${directory} cannot be used`);
  });

  (isRoot() ? describe : describe.skip)('under root', () => {
    it('names the directory that its user may not pass through', async () => {
      chmodSync(root, 0o700);
      await expect(start()).rejects.toThrow(`may not pass through ${root}. Set WARREN_DATA_DIR`);
    });

    it('runs as another user', async () => {
      const database = await start();
      const { uid } = statSync(`/proc/${database.pid}`);
      expect(uid).toBeGreaterThan(0);
      expect(statSync(path.join(directory, 'postgres')).uid).toBe(uid);
    });

    it('is started by an ordinary user as that user', async () => {
      chownSync(root, NOBODY, NOBODY);
      const process = await owner(NOBODY);
      expect(process.report.error).toBeUndefined();
      expect(statSync(`/proc/${process.report.pid}`).uid).toBe(NOBODY);
      expect(mode(directory)).toBe(0o700);
      expect(await query(process.report.connectionString ?? '', 'select 1 as one')).toBe(1);
    });
  });
});

function ask({ host, user, database }: EmbeddedPostgres, sql: string): Promise<unknown> {
  return query({ host, user, database }, sql);
}

/** The first field of the first row. */
async function query(connection: string | pg.ClientConfig, sql: string): Promise<unknown> {
  const client = new pg.Client(connection);
  await client.connect();
  try {
    const { rows } = await client.query<Record<string, unknown>>(sql);
    return Object.values(rows[0] ?? {})[0];
  } finally {
    await client.end();
  }
}

function mode(file: string): number {
  return statSync(file).mode & 0o777;
}

/** Command lines of the processes that work on a directory. */
function processesOf(directory: string): string[] {
  const commands = execFileSync('ps', ['-ww', '-A', '-o', 'command='], { encoding: 'utf8' });
  return commands.split('\n').filter((command) => command.includes(directory));
}
