// Searches what a run of the tests with WARREN_TEST_RECORDING wrote down for every canary that the run saved as a secret:
// node test/canary/sweep.mjs <directory>. The exit code is 1 on a hit, and where nothing or no canary was recorded.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { CORE, findCanaries } from './search.mjs';

const say = (line) => process.stdout.write(`${line}\n`);

/** Hits shown, at most. */
const MAX_SHOWN = 20;

const directory = process.argv[2] ?? process.env.WARREN_TEST_RECORDING ?? '';
if (directory === '') {
  process.stderr.write('Name the directory of the recording.\n');
  process.exit(2);
}
const began = performance.now();
const names = readdirSync(directory).toSorted();
const lines = (prefix) =>
  names
    .filter((name) => name.startsWith(prefix))
    .flatMap((name) => readFileSync(join(directory, name), 'utf8').split('\n'))
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

const canaries = new Set(lines('canaries-'));
const notes = lines('notes-');
const sums = {};
const hits = [];
const add = (kind, bytes, files, found) => {
  sums[kind] = { bytes: (sums[kind]?.bytes ?? 0) + bytes, files: (sums[kind]?.files ?? 0) + files };
  hits.push(...found);
};
let cutBytes = 0;
for (const name of names) {
  const kind = /^(log|answers|database)-/.exec(name)?.[1];
  if (kind === undefined) continue;
  const content = readFileSync(join(directory, name));
  const cut = /bytes cut from this recording: (\d+)\n$/.exec(content.subarray(-64).toString('latin1'));
  cutBytes += Number(cut?.[1] ?? 0);
  add(
    kind,
    content.length,
    1,
    findCanaries(content).map((hit) => ({ file: name, ...hit })),
  );
}
for (const { bytes, files, hits: found } of notes.filter(({ what }) => what === 'data directory')) {
  add('data directories', bytes, files, found);
}
const cuts = notes.filter(({ what }) => what === 'cut');
cutBytes += cuts.reduce((sum, { bytes = 0 }) => sum + bytes, 0);
const cutRows = cuts.reduce((sum, { rows = 0 }) => sum + rows, 0);
const missed = notes.filter(({ what }) => what === 'missed');

const megabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;
for (const [kind, { bytes, files }] of Object.entries(sums)) say(`${kind}: ${megabytes(bytes)} in ${files} files`);
say(`left out: ${cutBytes} bytes and ${cutRows} rows beyond the bounds, ${missed.length} databases not readable`);
for (const { why } of missed.slice(0, MAX_SHOWN)) say(`  not readable: ${why}`);
for (const { file, form, at, around } of hits.slice(0, MAX_SHOWN)) {
  const whole =
    [...canaries].find((canary) => around.includes(canary.slice(canary.indexOf(CORE)).slice(0, 24))) ??
    'a part of one, or one in another form';
  say(`HIT ${file} at ${at}, ${form}: ${JSON.stringify(around)} (${JSON.stringify(whole)})`);
}
const total = Object.values(sums).reduce((sum, { bytes }) => sum + bytes, 0);
const files = Object.values(sums).reduce((sum, { files: count }) => sum + count, 0);
const kinds = ['log', 'answers', 'database', 'data directories'].filter((kind) => (sums[kind]?.bytes ?? 0) === 0);
if (kinds.length > 0) say(`nothing was recorded of: ${kinds.join(', ')}`);
say(
  `canary sweep: ${total} bytes in ${files} files, ${canaries.size} canaries, hits: ${hits.length} ` +
    `(${((performance.now() - began) / 1e3).toFixed(1)} s)`,
);
const failed =
  hits.length > 0 ||
  canaries.size === 0 ||
  kinds.some((kind) => kind !== 'data directories') ||
  statSync(directory).size === 0;
process.exitCode = failed ? 1 : 0;
