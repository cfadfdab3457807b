import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { findExecutable } from './executable-lookup.js';

describe('findExecutable', () => {
  let directory: string;
  const isRoot = process.getuid?.() === 0;

  beforeAll(() => {
    directory = mkdtempSync(path.join(tmpdir(), 'warren-lookup-'));
    for (const name of ['closed', 'open', 'first']) mkdirSync(path.join(directory, name));
    writeFileSync(path.join(directory, 'open', 'tool'), '', { mode: 0o755 });
    writeFileSync(path.join(directory, 'first', 'tool'), '', { mode: 0o644 });
    writeFileSync(path.join(directory, 'closed', 'hidden'), '', { mode: 0o755 });
    chmodSync(path.join(directory, 'closed'), 0o600);
  });

  afterAll(() => {
    chmodSync(path.join(directory, 'closed'), 0o700);
    rmSync(directory, { recursive: true });
  });

  const look = (command: string, ...directories: string[]) =>
    findExecutable(command, directories.map((name) => path.join(directory, name)).join(path.delimiter), directory);

  it('passes over a file that may not be run', async () => {
    expect(await look('tool', 'first', 'open')).toEqual({ found: true, path: path.join(directory, 'open', 'tool') });
  });

  it('says when the only one may not be run, or is a directory', async () => {
    expect(await look('tool', 'first')).toMatchObject({ reason: 'executable_not_permitted' });
    expect(await look('/')).toMatchObject({ reason: 'executable_not_permitted' });
  });

  it('names the PATH of a command that is nowhere, and a blank in it', async () => {
    const missing = await look('no such-tool', 'open');
    expect(missing).toMatchObject({ reason: 'executable_not_found', detail: expect.stringContaining(directory) });
    expect(missing).toMatchObject({ detail: expect.stringContaining('put arguments into args') });
  });

  it('looks a path with a slash up from the working directory', async () => {
    expect(await look('./open/tool')).toEqual({ found: true, path: path.join(directory, 'open', 'tool') });
  });

  // root may search every directory
  (isRoot ? describe.skip : describe)('for an ordinary user', () => {
    it('does not take a closed directory of PATH for a forbidden command', async () => {
      expect(await look('hidden', 'closed')).toMatchObject({ reason: 'executable_not_found' });
      expect(await look('./closed/hidden')).toMatchObject({ reason: 'executable_not_permitted' });
    });
  });
});
