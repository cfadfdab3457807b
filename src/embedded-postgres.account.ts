import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { isRoot } from './data-directory.js';
import { EmbeddedPostgresError } from './embedded-postgres.error.js';

/** The operating system user that PostgreSQL runs as. */
export interface ServerAccount {
  readonly uid: number;
  readonly gid: number;
}

const CANDIDATES = ['postgres', '_postgres', 'nobody'];

/**
 * The user to run PostgreSQL as; undefined means "as ourselves". PostgreSQL refuses to run as root, so root lends it
 * another user: the owner of the cluster when there is one, else `postgres` or `nobody`.
 * Errors: `EmbeddedPostgresError` when root finds no such user.
 */
export function serverAccount(clusterDirectory: string): ServerAccount | undefined {
  if (!isRoot()) return undefined;
  // The owner comes first: a `postgres` user installed later must not lock Warren out of a cluster made by `nobody`.
  if (existsSync(clusterDirectory)) {
    const { uid, gid } = statSync(clusterDirectory);
    if (uid !== 0) return { uid, gid };
  }
  const account = findAccount(readFileSync('/etc/passwd', 'utf8'));
  if (account !== undefined) return account;
  throw new EmbeddedPostgresError(
    'PostgreSQL does not run as root, and this machine has no user "postgres" or "nobody" to run it as. ' +
      'Start Warren as an ordinary user, or set DATABASE_URL to a PostgreSQL server.',
  );
}

/** Picks the account out of a passwd file's text, by order of preference. */
export function findAccount(passwd: string): ServerAccount | undefined {
  const rows = passwd.split('\n').map((line) => line.split(':'));
  for (const name of CANDIDATES) {
    const row = rows.find((fields) => fields[0] === name);
    const account = { uid: Number(row?.[2]), gid: Number(row?.[3]) };
    if (account.uid > 0 && account.gid >= 0) return account;
  }
  return undefined;
}

/** The first directory above `target` that the account may not search, or undefined when all are open to it. */
export function closedAncestor(target: string, account: ServerAccount): string | undefined {
  for (let directory = path.dirname(target); ; directory = path.dirname(directory)) {
    const { mode, uid } = statSync(directory);
    const searchable = uid === account.uid ? (mode & 0o100) !== 0 : (mode & 0o001) !== 0;
    if (!searchable) return directory;
    if (directory === path.dirname(directory)) return undefined;
  }
}
