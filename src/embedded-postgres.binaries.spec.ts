import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { copyOf, linkLibraries } from './embedded-postgres.binaries.js';

describe('the PostgreSQL binaries', () => {
  let root: string;
  let installed: string;
  let copies: string;

  beforeEach(() => {
    root = mkdtempSync(path.join(os.tmpdir(), 'warren-binaries-'));
    installed = path.join(root, 'package/native');
    copies = path.join(root, 'copies');
    mkdirSync(path.join(installed, 'bin'), { recursive: true });
    mkdirSync(path.join(installed, 'lib'));
    mkdirSync(copies);
    writeFileSync(path.join(root, 'package/package.json'), '{"version":"1"}');
    // As an installation under umask 077 leaves them.
    writeFileSync(path.join(installed, 'bin/postgres'), 'binary', { mode: 0o700 });
    writeFileSync(path.join(installed, 'lib/libpq.so.5.18'), 'library', { mode: 0o600 });
    const links = [{ source: 'native/lib/libpq.so.5.18', target: 'native/lib/libpq.so.5' }];
    writeFileSync(path.join(installed, 'pg-symlinks.json'), JSON.stringify(links));
  });

  afterEach(() => rmSync(root, { recursive: true, force: true }));

  it('get their library links, however often and by however many at once', async () => {
    expect(await Promise.all([1, 2, 3].map(() => linkLibraries(installed)))).toEqual([true, true, true]);
    expect(await linkLibraries(installed)).toBe(true);
    expect(readFileSync(path.join(installed, 'lib/libpq.so.5'), 'utf8')).toBe('library');
  });

  it('are copied once when several copy at the same time, readable for everyone', async () => {
    const targets = await Promise.all(Array.from({ length: 5 }, () => copyOf(installed, copies)));
    expect(new Set(targets).size).toBe(1);
    expect(readdirSync(copies)).toHaveLength(1);
    const [copy = ''] = targets;
    expect(statSync(path.join(copy, 'bin/postgres')).mode & 0o777).toBe(0o755);
    expect(statSync(path.join(copy, 'lib/libpq.so.5')).mode & 0o777).toBe(0o644);
    expect(statSync(path.dirname(copy)).mode & 0o777).toBe(0o755);
    expect(await copyOf(installed, copies)).toBe(copy);
  });

  it('are copied anew when a cleaner took files out of the copy, or others may have changed it', async () => {
    const first = await copyOf(installed, copies);
    rmSync(path.join(first, 'lib/libpq.so.5.18'));
    const second = await copyOf(installed, copies);
    expect(second).not.toBe(first);
    chmodSync(path.dirname(second), 0o777);
    const third = await copyOf(installed, copies);
    expect(new Set([first, second, third]).size).toBe(3);
    expect(readFileSync(path.join(third, 'lib/libpq.so.5'), 'utf8')).toBe('library');
  });

  it('are copied anew after an upgrade', async () => {
    const before = await copyOf(installed, copies);
    writeFileSync(path.join(root, 'package/package.json'), '{"version":"2"}');
    expect(await copyOf(installed, copies)).not.toBe(before);
  });
});
