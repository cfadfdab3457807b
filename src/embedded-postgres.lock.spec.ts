import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdtempSync, readdirSync, rmSync, utimesSync, mkdirSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { acquireOwnership, claimNumber } from './embedded-postgres.lock.js';

describe('ownership of a data directory', () => {
  let directory: string;

  beforeEach(() => {
    directory = mkdtempSync(path.join(os.tmpdir(), 'warren-lock-'));
  });

  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  it('goes to one of 20 that ask at once', async () => {
    const results = await Promise.allSettled(Array.from({ length: 20 }, () => acquireOwnership(directory)));
    const won = results.filter((result) => result.status === 'fulfilled');
    expect(won).toHaveLength(1);
    await won[0]?.value.release();
  });

  it('is never held twice while it changes hands, and leaves one record', async () => {
    let holding = 0;
    let most = 0;
    let changes = 0;
    const contend = async (): Promise<void> => {
      while (changes < 30) {
        const lock = await acquireOwnership(directory).catch(() => undefined);
        if (lock === undefined) continue;
        holding += 1;
        most = Math.max(most, holding);
        changes += 1;
        await turn();
        holding -= 1;
        await lock.release();
      }
    };
    await Promise.all(Array.from({ length: 20 }, contend));
    expect(most).toBe(1);
    expect(readdirSync(directory)).toEqual([expect.stringMatching(/^owner\.\d+$/)]);
  });

  it('is not given to a starter that looked before others had come and gone', async () => {
    const owners = [await acquireOwnership(directory)];
    await owners[0]?.release();
    owners.push(await acquireOwnership(directory));
    // It saw no owner, so it claims the first number, which is free again.
    expect(await claimNumber(directory, directory, 1)).toBeUndefined();
    expect(readdirSync(directory)).toEqual(['owner.2']);
    await owners[1]?.release();
  });

  it('can be taken again once it is released', async () => {
    const first = await acquireOwnership(directory);
    await expect(acquireOwnership(directory)).rejects.toThrow(
      `(process ${process.pid}) is running on the data directory`,
    );
    await first.release();
    const second = await acquireOwnership(directory);
    await second.release();
  });

  it('clears away what a process killed in the middle of a claim left', async () => {
    const abandoned = path.join(directory, 'owner-new-abcdef');
    mkdirSync(abandoned);
    utimesSync(abandoned, 0, 0);
    const lock = await acquireOwnership(directory);
    expect(readdirSync(directory)).toEqual(['owner.1']);
    await lock.release();
  });
});
