import { randomBytes } from 'node:crypto';
import { link, open, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';

const MAX_KEY_FILE_BYTES = 64 * 1024;
const OTHERS_MAY_ACCESS = 0o077;

export interface KeyFile {
  /** The keyring as written in the file. */
  readonly text: string;
  /** True for the one caller that made the file. */
  readonly created: boolean;
  /** True when group or others have any permission on the file: worth a warning at the start. */
  readonly exposed: boolean;
}

/**
 * Reads the keyring at `path`, first making it (one random key, mode 0600) when there is none. Any number of
 * processes may do so at once: all of them read the same key, and none ever sees half a file.
 * @throws {Error} when the file is empty, longer than 64 KiB, or cannot be read or made
 */
export async function loadOrCreateKeyFile(path: string): Promise<KeyFile> {
  const existing = await readKeyFile(path);
  if (existing !== undefined) return { ...existing, created: false };

  const created = await createKeyFile(path);
  const file = await readKeyFile(path);
  if (file === undefined) throw new Error(`the key file ${path} was removed while it was being made`);
  return { ...file, created };
}

async function readKeyFile(path: string): Promise<Omit<KeyFile, 'created'> | undefined> {
  let file;
  try {
    file = await open(path, 'r');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
  try {
    const { mode, size } = await file.stat();
    if (size > MAX_KEY_FILE_BYTES) throw new Error(`the key file ${path} is longer than ${MAX_KEY_FILE_BYTES} bytes`);
    const text = await file.readFile('utf8');
    if (text.trim() === '') throw new Error(`the key file ${path} is empty`);
    return { text, exposed: process.platform !== 'win32' && (mode & OTHERS_MAY_ACCESS) !== 0 };
  } finally {
    await file.close();
  }
}

/** True when this call made the file, false when another had just done so. */
async function createKeyFile(path: string): Promise<boolean> {
  // A random id, so that a file lost and made anew reads as an unknown key and not as damaged secrets.
  const entry = `k${randomBytes(4).toString('hex')}:${randomBytes(32).toString('base64')}\n`;
  const temporary = `${path}.${process.pid}.${randomBytes(6).toString('hex')}.tmp`;
  const file = await open(temporary, 'wx', 0o600);
  try {
    await file.writeFile(entry);
    await file.sync();
  } finally {
    await file.close();
  }
  try {
    // A link, unlike a rename, never replaces a file that another process has made meanwhile.
    await link(temporary, path);
    await syncDirectory(dirname(path));
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  } finally {
    await unlink(temporary);
  }
}

/** Makes the new name survive a power cut: secrets sealed under a key that vanishes are lost. */
async function syncDirectory(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

function hasCode(error: unknown, code: string): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === code;
}
