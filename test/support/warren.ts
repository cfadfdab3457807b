import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { logRecorder, recordDataDirectory, recordedEnvironment } from '../canary/recording.js';
import { createToken } from '../../src/token.js';
import { Api } from './api.js';
import { createTestDatabase, type TestDatabase } from './test-database.js';

/** A keyring entry for tests only. */
export const TEST_KEYRING = `test:${Buffer.alloc(32, 7).toString('base64')}`;

/** A real Warren process on a database of its own, with an admin key. */
export interface TestWarren {
  url: string;
  adminKey: string;
  /** As the admin. */
  api: Api;
  process: ChildProcess;
  database: TestDatabase;
  /** Everything it wrote to its log so far. */
  log(): string;
  /** TERM, and the exit code. */
  stop(): Promise<number | null>;
}

interface WarrenOptions {
  /** Share the database of another one. */
  database?: TestDatabase;
  adminKey?: string;
  environment?: Record<string, string>;
}

/**
 * Starts `warren serve` from the build. Loopback providers are allowed, since test providers live there.
 * `stop()` it in `afterAll`; the database goes with the one that made it.
 */
export async function startWarren(options: WarrenOptions = {}): Promise<TestWarren> {
  const database = options.database ?? (await createTestDatabase());
  const adminKey = options.adminKey ?? createToken('operator').token;
  const dataDirectory = await mkdtemp(join(tmpdir(), 'warren-test-data-'));
  const child = spawn(process.execPath, [resolve('bin/warren.mjs'), 'serve'], {
    env: recordedEnvironment({
      PATH: process.env.PATH ?? '',
      HOME: dataDirectory,
      PORT: '0',
      LOG_LEVEL: 'info',
      DATABASE_URL: database.connectionString,
      WARREN_DATA_DIR: dataDirectory,
      WARREN_ADMIN_KEY: adminKey,
      WARREN_SECRET_KEYS: TEST_KEYRING,
      WARREN_ALLOW_PRIVATE_NETWORKS: '127.0.0.0/8,::1',
      WARREN_DB_CONNECTIONS: '10',
      ...options.environment,
    }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  child.stderr.on('data', (chunk: Buffer) => (log += chunk.toString('utf8')));
  const record = logRecorder();
  for (const stream of [child.stdout, child.stderr]) stream.on('data', record);
  const exited = once(child, 'exit');
  const url = await Promise.race([
    servingUrl(child),
    exited.then(([code]) => {
      throw new Error(`Warren ended during its start with exit code ${String(code)}:\n${log}`);
    }),
  ]);
  return {
    url,
    adminKey,
    api: new Api(url, adminKey),
    process: child,
    database,
    log: () => log,
    stop: async () => {
      child.kill('SIGTERM');
      const [code] = (await exited) as [number | null];
      if (options.database === undefined) await database.drop();
      recordDataDirectory(dataDirectory);
      await rm(dataDirectory, { recursive: true, force: true });
      return code;
    },
  };
}

function servingUrl(child: ChildProcess): Promise<string> {
  return new Promise((found) => {
    let text = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString('utf8');
      const url = /serves at (http:\S+)/.exec(text)?.[1];
      if (url !== undefined) found(url);
    });
  });
}
