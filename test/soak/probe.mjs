// Preloaded into the Warren under soak (NODE_OPTIONS=--import): whoever sends a line to the unix socket SOAK_PROBE is told
// the figures of the process after a forced garbage collection, as one JSON text. A line that is not empty is the path to
// write a heap snapshot to, after that.
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString, writeHeapSnapshot } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
// to tell what the optimising compiler leaves on the heap from what the program does
if (process.env.SOAK_UNOPTIMISED === '1') setFlagsFromString('--no-opt');
// a forced collection would also throw away code that did not run lately, and so disturb the figures
setFlagsFromString('--no-flush-bytecode');
const collect = runInNewContext('gc');
/** What a collection finds dead by weak references or finalizers is freed by one of the next: until that is all. */
const COLLECTIONS = { least: 3, most: 30 };
const SAME_BYTES = 16_384;
const warnings = [];
process.on('warning', ({ name, message }) => warnings.push(`${name}: ${message}`));

const server = createServer((socket) => void answer(socket));

async function answer(socket) {
  socket.on('error', () => undefined);
  const [line] = await once(socket.setEncoding('utf8'), 'data');
  await collectAll();
  const resources = {};
  for (const type of process.getActiveResourcesInfo()) resources[type] = (resources[type] ?? 0) + 1;
  const { heapUsed, external, rss } = process.memoryUsage();
  socket.end(JSON.stringify({ heapBytes: heapUsed, externalBytes: external, rssBytes: rss, resources, warnings }));
  if (line.trim() !== '') writeHeapSnapshot(line.trim());
}

async function collectAll() {
  let before = Infinity;
  for (let count = 1; count <= COLLECTIONS.most; count += 1) {
    collect();
    await delay(20);
    const { heapUsed } = process.memoryUsage();
    if (count >= COLLECTIONS.least && before - heapUsed < SAME_BYTES) return;
    before = heapUsed;
  }
}

server.listen(process.env.SOAK_PROBE);
server.unref();
