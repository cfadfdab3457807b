import { once } from 'node:events';
import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { readPostmasterStatus, stopPostmaster } from '../../src/embedded-postgres.process.js';

/** Data directories lie this deep in the directory of a run, at most. */
const MAX_DEPTH = 3;

/** `test-run-guard.ts <run directory>`: when its input closes, stops the databases left in there and removes it. */
const [runDirectory = ''] = process.argv.slice(2);
process.stdin.resume();
await once(process.stdin, 'end');
for (const cluster of await clustersIn(runDirectory, MAX_DEPTH)) {
  const status = readPostmasterStatus(cluster);
  if (status !== undefined) await stopPostmaster(status.pid, cluster);
}
await rm(runDirectory, { recursive: true, force: true, maxRetries: 10 });

async function clustersIn(directory: string, depth: number): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const inner = path.join(directory, entry.name);
    if (!entry.isDirectory()) continue;
    if (entry.name === 'postgres') found.push(inner);
    else if (depth > 0) found.push(...(await clustersIn(inner, depth - 1)));
  }
  return found;
}
