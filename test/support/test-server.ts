import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../src/embedded-postgres.js';
import { freshRunDirectory } from './temporary-data-directory.js';

/** Test data is thrown away, so it need not survive a crash. */
const SETTINGS = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '200' };

/**
 * Makes one PostgreSQL available to every test file of this run: the one that WARREN_TEST_DATABASE_URL names, else an
 * embedded one. Returns what ends it. Test files learn of it through the environment, which jest's workers inherit.
 */
export async function startTestServer(): Promise<() => Promise<void>> {
  const runDirectory = freshRunDirectory();
  const guard = guardRun(runDirectory);
  const template = `warren_template_${randomBytes(6).toString('hex')}`;
  process.env['TEST_RUN_DIRECTORY'] = runDirectory;
  process.env['TEST_DATABASE_TEMPLATE'] = template;
  const external = process.env['WARREN_TEST_DATABASE_URL'] ?? '';
  if (external !== '') {
    return async () => {
      await dropTemplate(external, template);
      await endGuard(guard);
    };
  }
  const server = await startEmbeddedPostgres(path.join(runDirectory, 'server'), SETTINGS);
  process.env['WARREN_TEST_DATABASE_URL'] = server.connectionString;
  return async () => {
    await server.stop();
    await endGuard(guard);
  };
}

/** A process that cleans up after this one, however it ends: that closes the guard's input. */
function guardRun(runDirectory: string): ChildProcess {
  const support = path.dirname(fileURLToPath(import.meta.url));
  const script = [path.join(support, 'typescript.mjs'), path.join(support, 'test-run-guard.ts')];
  const guard = spawn(process.execPath, ['--import', ...script, runDirectory], {
    detached: true,
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  guard.unref();
  return guard;
}

async function endGuard(guard: ChildProcess): Promise<void> {
  // an awaited child must hold the event loop, else this process ends before jest has set its exit code
  guard.ref();
  const ended = once(guard, 'exit');
  guard.stdin?.end();
  await ended;
}

async function dropTemplate(url: string, template: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`drop database if exists ${template}`);
  } finally {
    await client.end();
  }
}
