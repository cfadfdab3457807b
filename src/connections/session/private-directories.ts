import { readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { processStart } from '../../process-start.js';

/** Working directories of providers that have none of their own: `<prefix><owner pid>-<owner start>-<random>`. */
export const PRIVATE_DIRECTORY_PREFIX = 'warren-provider-';
const NAME = new RegExp(`^${PRIVATE_DIRECTORY_PREFIX}(\\d+)-(\\d+)-`);

/** Removes those that a killed Warren left behind. Never rejects: what cannot be removed is not ours. */
export async function removeOrphanedDirectories(): Promise<void> {
  // without /proc nothing tells the living from the dead
  if (processStart('self') === undefined) return;
  for (const name of await readdir(tmpdir()).catch(() => [])) {
    const owner = NAME.exec(name);
    if (owner === null || processStart(Number(owner[1])) === owner[2]) continue;
    await rm(join(tmpdir(), name), { recursive: true, force: true }).catch(() => undefined);
  }
}
