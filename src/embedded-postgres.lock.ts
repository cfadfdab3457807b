import { mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import net from 'node:net';
import path from 'node:path';
import { EmbeddedPostgresError } from './embedded-postgres.error.js';
import { withShortPath } from './embedded-postgres.socket-path.js';
import { systemErrorCode } from './system-error.js';

/** One process's hold on a data directory. */
export interface OwnershipLock {
  release(): Promise<void>;
}

/** A directory per owner, numbered upwards; the highest is the current one. */
const OWNER = /^owner\.(\d+)$/;
const UNFINISHED = 'owner-new-';
const SOCKET = 'socket';
const PID = 'pid';

/** Each failed attempt means that another starter got one number further; so many only happen when something is broken. */
const MAX_ATTEMPTS = 100;

/** An unfinished claim lives for milliseconds; one this old was left by a killed process. */
const UNFINISHED_MAX_AGE_MS = 60_000;

/**
 * Takes ownership of a data directory for as long as this process lives.
 *
 * An owner listens on a socket inside its numbered directory, so the kernel itself drops the claim when the process
 * dies, however it dies, and whether or not process ids are shared (two containers on one volume). A claim is made by
 * renaming a finished directory to the next number, which only one starter can do; the highest number is never removed,
 * so a starter that looked too early finds itself below it and gives up. That leaves no gap in which two could win.
 *
 * Errors: `EmbeddedPostgresError` when another process owns the directory.
 */
export async function acquireOwnership(dataDirectory: string): Promise<OwnershipLock> {
  return withShortPath(dataDirectory, async (shortPath) => {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const current = await highestOwner(dataDirectory);
      if (await isHeld(path.join(shortPath, ownerName(current)))) throw await heldError(dataDirectory, current);
      const lock = await claimNumber(dataDirectory, shortPath, current + 1);
      if (lock !== undefined) return lock;
    }
    throw new EmbeddedPostgresError(
      `Ownership of ${dataDirectory} could not be settled with other starting processes.`,
    );
  });
}

/** True when a living process owns the data directory, which must exist. */
export function isOwned(dataDirectory: string): Promise<boolean> {
  return withShortPath(dataDirectory, async (shortPath) => {
    return isHeld(path.join(shortPath, ownerName(await highestOwner(dataDirectory))));
  });
}

function ownerName(number: number): string {
  return `owner.${number}`;
}

async function highestOwner(dataDirectory: string): Promise<number> {
  const numbers = (await readdir(dataDirectory)).map((name) => Number(OWNER.exec(name)?.[1] ?? 0));
  return Math.max(0, ...numbers);
}

/** True unless the kernel says that nobody listens: a full backlog or a refused permission still means an owner. */
function isHeld(ownerDirectory: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = net.connect({ path: path.join(ownerDirectory, SOCKET) });
    probe.once('connect', () => {
      probe.destroy();
      resolve(true);
    });
    probe.once('error', (error) => {
      const code = systemErrorCode(error);
      resolve(code !== 'ECONNREFUSED' && code !== 'ENOENT');
    });
  });
}

async function heldError(dataDirectory: string, owner: number): Promise<EmbeddedPostgresError> {
  const pid = await readFile(path.join(dataDirectory, ownerName(owner), PID), 'utf8').catch(() => undefined);
  return new EmbeddedPostgresError(
    `Another Warren${pid === undefined ? '' : ` (process ${pid.trim()})`} is running on the data directory ` +
      `${dataDirectory}. Stop it, or set WARREN_DATA_DIR to another directory.`,
  );
}

/** Claims one number; undefined when another starter has it, or a higher one. `shortPath` leads to the directory too. */
export async function claimNumber(
  dataDirectory: string,
  shortPath: string,
  number: number,
): Promise<OwnershipLock | undefined> {
  const unfinished = await mkdtemp(path.join(dataDirectory, UNFINISHED));
  const target = path.join(dataDirectory, ownerName(number));
  const socketPath = path.join(shortPath, path.basename(unfinished), SOCKET);
  const server = await listen(socketPath, dataDirectory).catch(async (error: unknown) => {
    await rm(unfinished, { recursive: true, force: true });
    throw error;
  });
  try {
    await writeFile(path.join(unfinished, PID), `${process.pid}\n`);
    await rename(unfinished, target);
    if ((await highestOwner(dataDirectory)) === number) {
      await removeFormerOwners(dataDirectory, number);
      return { release: () => close(server) };
    }
    await discard(server, target);
  } catch (error) {
    await discard(server, unfinished);
    const code = systemErrorCode(error);
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error;
  }
  return undefined;
}

function listen(socketPath: string, dataDirectory: string): Promise<net.Server> {
  return new Promise((resolve, reject) => {
    const server = net.createServer((connection) => connection.destroy());
    // Owning a directory is no reason to keep the process alive.
    server.unref();
    server.once('error', (error) => {
      const words = `${dataDirectory} cannot hold a unix socket (${error.message}); put it on a local file system.`;
      reject(new EmbeddedPostgresError(words, { cause: error }));
    });
    server.listen({ path: socketPath }, () => resolve(server));
  });
}

function close(server: net.Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}

async function discard(server: net.Server, directory: string): Promise<void> {
  await close(server);
  await rm(directory, { recursive: true, force: true });
}

async function removeFormerOwners(dataDirectory: string, number: number): Promise<void> {
  for (const name of await readdir(dataDirectory)) {
    const directory = path.join(dataDirectory, name);
    const former = Number(OWNER.exec(name)?.[1] ?? number) < number;
    if (former || (name.startsWith(UNFINISHED) && (await isAbandoned(directory)))) {
      await rm(directory, { recursive: true, force: true });
    }
  }
}

async function isAbandoned(directory: string): Promise<boolean> {
  try {
    return Date.now() - (await stat(directory)).mtimeMs > UNFINISHED_MAX_AGE_MS;
  } catch {
    // Its starter finished or removed it meanwhile.
    return false;
  }
}
