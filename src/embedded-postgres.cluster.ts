import { execFile } from 'node:child_process';
import { chown, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import type { ServerAccount } from './embedded-postgres.account.js';
import type { PostgresBinaries } from './embedded-postgres.binaries.js';
import { EmbeddedPostgresError } from './embedded-postgres.error.js';
import { errorText } from './system-error.js';

/** Major version of the binaries; a cluster's files can only be read by the version that made them. */
const MAJOR_VERSION = '18';

/** The superuser of every cluster; only who may open the socket directory can become it. */
export const SUPERUSER = 'postgres';

/**
 * What PostgreSQL's programs see of the environment. None of ours: it holds keys, and PGPORT or PGDATA of a developer's
 * shell would change what they do.
 */
export const POSTGRES_ENVIRONMENT = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };

/**
 * Creates the database cluster unless it exists. Caller holds the data directory's ownership. It is made aside and
 * renamed when complete, so a crash in between leaves nothing that looks like a cluster.
 * Errors: `EmbeddedPostgresError` when initdb fails or the cluster is of another PostgreSQL version.
 */
export async function ensureCluster(
  cluster: string,
  binaries: PostgresBinaries,
  account: ServerAccount | undefined,
  timeoutMillis: number,
): Promise<void> {
  const version = await readFile(path.join(cluster, 'PG_VERSION'), 'utf8').catch(() => undefined);
  if (version?.trim() === MAJOR_VERSION) return;
  if (version !== undefined) {
    throw new EmbeddedPostgresError(
      `The database in ${cluster} was made by PostgreSQL ${version.trim()}, and this Warren brings ${MAJOR_VERSION}. ` +
        'Export it with that version (pg_dumpall), or set WARREN_DATA_DIR to a new directory.',
    );
  }
  await removeUnfinished(cluster);
  const unfinished = await mkdtemp(`${cluster}-new-`);
  try {
    if (account !== undefined) await chown(unfinished, account.uid, account.gid);
    await initialize(unfinished, binaries, account, timeoutMillis);
    await rename(unfinished, cluster);
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    throw error;
  }
}

async function initialize(
  directory: string,
  binaries: PostgresBinaries,
  account: ServerAccount | undefined,
  timeoutMillis: number,
): Promise<void> {
  const settings = ['-E', 'UTF8', '--no-locale', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
  const access = ['-U', SUPERUSER, '-A', 'trust'];
  const options = { ...account, cwd: '/', env: POSTGRES_ENVIRONMENT, timeout: timeoutMillis };
  try {
    await promisify(execFile)(binaries.initdb, ['-D', directory, ...settings, ...access, '--no-instructions'], options);
  } catch (error) {
    const stderr = typeof error === 'object' && error !== null && 'stderr' in error ? String(error.stderr).trim() : '';
    const reason = stderr === '' ? errorText(error) : stderr;
    throw new EmbeddedPostgresError(`The embedded database could not be created:\n${reason}`, { cause: error });
  }
}

async function removeUnfinished(cluster: string): Promise<void> {
  const parent = path.dirname(cluster);
  for (const name of await readdir(parent)) {
    if (!name.startsWith(`${path.basename(cluster)}-new-`)) continue;
    // Retries: the initdb of a killed Warren may still be writing into it.
    await rm(path.join(parent, name), { recursive: true, force: true, maxRetries: 10 });
  }
}
