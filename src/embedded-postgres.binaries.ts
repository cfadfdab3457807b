import { createHash } from 'node:crypto';
import { chmod, cp, lstat, mkdtemp, readdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { closedAncestor, type ServerAccount } from './embedded-postgres.account.js';
import { EmbeddedPostgresError } from './embedded-postgres.error.js';
import { currentPlatform, platformProblem } from './embedded-postgres.platform.js';
import { systemErrorCode } from './system-error.js';

/** Absolute paths of the programs that run the embedded database. */
export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
}

/** Where copies go: everyone may reach it, and unlike /tmp it is seldom mounted without the right to execute. */
const COPIES_DIRECTORY = '/var/tmp';

/** A copy that is incomplete or somebody else's is passed over for the next name; so many are tried. */
const MAX_COPY_NAMES = 10;

/**
 * Finds the PostgreSQL binaries of this platform and makes them ready to run by `account` (undefined: by ourselves).
 * They run from where they are installed, or from a copy when that is not reachable or lacks its library links and
 * cannot be written. Errors: `EmbeddedPostgresError` when the platform has no binaries or they are not installed.
 */
export async function findBinaries(account: ServerAccount | undefined): Promise<PostgresBinaries> {
  const installed = installedDirectory();
  const usable = (await isExecutableBy(installed, account)) && (await linkLibraries(installed));
  const directory = usable ? installed : await copyOf(installed);
  return { initdb: path.join(directory, 'bin/initdb'), postgres: path.join(directory, 'bin/postgres') };
}

function installedDirectory(): string {
  const platform = currentPlatform();
  const problem = platformProblem(platform);
  if (problem !== undefined) throw new EmbeddedPostgresError(problem);
  const name = `@embedded-postgres/${platform.system}-${platform.architecture}`;
  try {
    // The platform's package is an optional dependency of this one and may be nested in it.
    const parent = createRequire(import.meta.url).resolve('embedded-postgres');
    return path.join(path.dirname(createRequire(parent).resolve(name)), '../native');
  } catch (error) {
    throw new EmbeddedPostgresError(
      `The package ${name} with PostgreSQL's binaries is not installed (were optional dependencies left out?). ` +
        'Install again without --omit=optional, or set DATABASE_URL to a PostgreSQL server.',
      { cause: error },
    );
  }
}

async function isExecutableBy(directory: string, account: ServerAccount | undefined): Promise<boolean> {
  if (account === undefined) return true;
  const postgres = path.join(directory, 'bin/postgres');
  return closedAncestor(postgres, account) === undefined && ((await stat(postgres)).mode & 0o005) === 0o005;
}

/**
 * npm packages hold no symbolic links, so the package brings a list of them for an install script to make. They are
 * made here instead: install scripts are often switched off. False when the directory cannot be written.
 */
export async function linkLibraries(directory: string): Promise<boolean> {
  const links = JSON.parse(await readFile(path.join(directory, 'pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of links) {
    try {
      await symlink(path.relative(path.dirname(target), source), path.join(directory, '..', target));
    } catch (error) {
      const code = systemErrorCode(error);
      if (code === 'EROFS' || code === 'EACCES' || code === 'EPERM') return false;
      if (code !== 'EEXIST') throw error;
    }
  }
  return true;
}

/** Copies the binaries aside and renames the finished copy into place, so that several starters never see half of one. */
export async function copyOf(installed: string, copies = COPIES_DIRECTORY): Promise<string> {
  const manifest = await readFile(path.join(installed, '../package.json'));
  const identity = createHash('sha256').update(manifest).digest('hex').slice(0, 12);
  const name = path.join(copies, `warren-postgres-${String(process.getuid?.())}-${identity}`);
  const expected = await entryCount(installed);
  let fresh: string | undefined;
  try {
    for (let attempt = 0; attempt < MAX_COPY_NAMES; attempt += 1) {
      const target = `${name}-${attempt}`;
      if (await isOurCopy(target, expected)) return path.join(target, 'native');
      fresh ??= await freshCopy(installed, `${name}.new-`);
      try {
        await rename(fresh, target);
        fresh = undefined;
        return path.join(target, 'native');
      } catch (error) {
        const code = systemErrorCode(error);
        if (code !== 'ENOTEMPTY' && code !== 'EEXIST' && code !== 'ENOTDIR' && code !== 'EPERM') throw error;
        // Another starter may have put a complete copy here in the meantime.
        if (await isOurCopy(target, expected)) return path.join(target, 'native');
      }
    }
  } finally {
    if (fresh !== undefined) await rm(fresh, { recursive: true, force: true });
  }
  throw new EmbeddedPostgresError(`PostgreSQL's binaries could not be copied: remove ${name}-* and start again.`);
}

async function freshCopy(installed: string, prefix: string): Promise<string> {
  const copy = await mkdtemp(prefix);
  const native = path.join(copy, 'native');
  await cp(installed, native, { recursive: true, verbatimSymlinks: true });
  await linkLibraries(native);
  // An installation under a strict umask is not readable for the user that PostgreSQL runs as.
  await chmod(copy, 0o755);
  await chmod(native, 0o755);
  for (const entry of await readdir(native, { recursive: true, withFileTypes: true })) {
    if (entry.isSymbolicLink()) continue;
    const file = path.join(entry.parentPath, entry.name);
    const executable = entry.isDirectory() || entry.parentPath === path.join(native, 'bin');
    await chmod(file, executable ? 0o755 : 0o644);
  }
  return copy;
}

/** A copy is trusted when nobody else could have written it, and complete when no cleaner took files out of it. */
async function isOurCopy(target: string, expected: number): Promise<boolean> {
  try {
    const { uid, mode } = await lstat(target);
    const ours = uid === process.getuid?.() && (mode & 0o022) === 0;
    return ours && (await entryCount(path.join(target, 'native'))) === expected;
  } catch {
    return false;
  }
}

/** Entries of an installation, its library links counted whether or not they have been made. */
async function entryCount(directory: string): Promise<number> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => !entry.isSymbolicLink()).length;
}
