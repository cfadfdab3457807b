import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Keyring } from './secret-box.js';
import { loadOrCreateKeyFile } from './secret-key-file.js';

describe('loadOrCreateKeyFile', () => {
  let folder: string;
  let path: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'warren-key-'));
    path = join(folder, 'secret.key');
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('makes a keyring of one key that only its owner may read', async () => {
    const file = await loadOrCreateKeyFile(path);
    expect(file.created).toBe(true);
    expect(file.exposed).toBe(false);
    expect(Keyring.parse(file.text).keyIds).toHaveLength(1);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readdir(folder)).toEqual(['secret.key']);
  });

  it('reads the same key again', async () => {
    const first = await loadOrCreateKeyFile(path);
    expect(await loadOrCreateKeyFile(path)).toEqual({ ...first, created: false });
  });

  it('gives one key to 20 that start at once', async () => {
    const files = await Promise.all(Array.from({ length: 20 }, () => loadOrCreateKeyFile(path)));
    expect(new Set(files.map(({ text }) => text)).size).toBe(1);
    expect(files.filter(({ created }) => created)).toHaveLength(1);
    expect(await readdir(folder)).toEqual(['secret.key']);
  });

  it('says when others may read the file, and leaves it as it is', async () => {
    await writeFile(path, 'mine:key\n');
    await chmod(path, 0o640);
    expect(await loadOrCreateKeyFile(path)).toEqual({ text: 'mine:key\n', created: false, exposed: true });
    expect(await readFile(path, 'utf8')).toBe('mine:key\n');
  });

  it('refuses an empty file, an endless one and a folder that is not there', async () => {
    await writeFile(path, ' \n');
    await expect(loadOrCreateKeyFile(path)).rejects.toThrow('is empty');
    await writeFile(path, 'x'.repeat(65_537));
    await expect(loadOrCreateKeyFile(path)).rejects.toThrow('longer than');
    await expect(loadOrCreateKeyFile(join(folder, 'none', 'secret.key'))).rejects.toThrow('ENOENT');
  });
});
