import { existsSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { isOwned } from './embedded-postgres.lock.js';
import { isPostmaster, readPostmasterStatus } from './embedded-postgres.process.js';
import { connectionStringOf } from './embedded-postgres.socket-path.js';

/**
 * The URL of the embedded database that a living Warren runs on this data directory, for a command beside it; undefined
 * when none runs or it is still starting.
 */
export async function runningEmbeddedPostgres(dataDirectory: string): Promise<string | undefined> {
  if (!existsSync(dataDirectory)) return undefined;
  const directory = realpathSync(dataDirectory);
  if (!(await isOwned(directory))) return undefined;
  const cluster = path.join(directory, 'postgres');
  const status = readPostmasterStatus(cluster);
  if (status?.ready !== true || !isPostmaster(status.pid, cluster)) return undefined;
  return connectionStringOf(status.socketDirectory);
}
