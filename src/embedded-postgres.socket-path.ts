import { createHash } from 'node:crypto';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import type { ServerAccount } from './embedded-postgres.account.js';
import { SUPERUSER } from './embedded-postgres.cluster.js';
import { EmbeddedPostgresError } from './embedded-postgres.error.js';
import { errorText } from './system-error.js';

/** Longest socket path in bytes that every supported kernel takes (104 with its closing zero on macOS). */
const MAX_SOCKET_PATH = 103;

/** Short by nature, unlike `os.tmpdir()`, which follows TMPDIR. */
const SHORT_DIRECTORY = '/tmp';

/** PostgreSQL's socket, in its socket directory. Port 5432 only names the file: nothing listens on TCP. */
export const SOCKET_NAME = '.s.PGSQL.5432';

function fits(socketPath: string): boolean {
  return Buffer.byteLength(socketPath) <= MAX_SOCKET_PATH;
}

/**
 * Creates the private directory (0700, owned by the database's user) of PostgreSQL's socket and returns its path. It
 * lies in the data directory; when that path is too long for a socket, under /tmp with a name derived from it. Caller
 * knows that no server runs: what a killed one left there is removed, or its lock file would stop the next one for as
 * long as its process id is in use by anybody.
 * Errors: `EmbeddedPostgresError` when another user occupies the name under /tmp.
 */
export function socketDirectory(dataDirectory: string, account: ServerAccount | undefined): string {
  const near = path.join(dataDirectory, 'socket');
  const directory = fits(path.join(near, SOCKET_NAME)) ? near : shortDirectory(dataDirectory);
  try {
    rmSync(directory, { recursive: true, force: true });
    // Fails when something is there again, so the directory is ours from its first moment.
    mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    throw new EmbeddedPostgresError(
      `${directory} cannot be replaced (${errorText(error)}); remove it, or set WARREN_DATA_DIR to a shorter path.`,
      { cause: error },
    );
  }
  chmodSync(directory, 0o700);
  if (account !== undefined) chownSync(directory, account.uid, account.gid);
  return directory;
}

/** Removes a stopped server's socket directory when it is the one under /tmp. */
export function removeShortSocketDirectory(directory: string, dataDirectory: string): void {
  if (directory === shortDirectory(dataDirectory)) rmSync(directory, { recursive: true, force: true });
}

/** The URL of the database behind the socket in this directory. */
export function connectionStringOf(directory: string): string {
  return `postgresql://${SUPERUSER}@${encodeURIComponent(directory)}/postgres`;
}

function shortDirectory(dataDirectory: string): string {
  const identity = createHash('sha256').update(dataDirectory).digest('hex').slice(0, 16);
  return path.join(SHORT_DIRECTORY, `warren-${identity}`);
}

/**
 * Calls `use` with a path to `directory` short enough for a socket in it: the path itself, or a link to it under /tmp
 * that exists only during the call.
 */
export async function withShortPath<T>(directory: string, use: (shortPath: string) => Promise<T>): Promise<T> {
  // 64 bytes are room for what callers append.
  if (Buffer.byteLength(directory) + 64 <= MAX_SOCKET_PATH) return use(directory);
  const holder = mkdtempSync(path.join(SHORT_DIRECTORY, 'warren-'));
  try {
    const alias = path.join(holder, 'd');
    symlinkSync(directory, alias);
    return await use(alias);
  } finally {
    rmSync(holder, { recursive: true, force: true });
  }
}
