import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { join, resolve } from 'node:path';
import { readDatabase } from './database-contents.js';
import { findCanaries } from './search.mjs';

const NAMED = process.env['WARREN_TEST_RECORDING'] ?? '';
/** Bytes kept of one log; what is beyond is counted as cut. */
const MAX_LOG_BYTES = 64 * 1024 * 1024;
/** Files that hold secrets by contract: the keyring, and what quickstart keeps for its second run. */
const KEEPERS = new Set(['secret.key', 'quickstart-operator-key', 'quickstart-agent-token']);

/** Where this run of the tests writes down all that its Warrens say and keep; undefined when nobody asked for it. */
export const recordingDirectory = NAMED === '' ? undefined : resolve(NAMED);

if (recordingDirectory !== undefined) mkdirSync(recordingDirectory, { recursive: true });

/** A file of the recording of its own. */
function fresh(directory: string, kind: string): string {
  return join(directory, `${kind}-${process.pid}-${randomBytes(6).toString('hex')}`);
}

/** Notes what the sweep has to know besides the files: what was searched in place, cut or not to be had. */
function note(directory: string, entry: Record<string, unknown>): void {
  appendFileSync(join(directory, `notes-${process.pid}.jsonl`), `${JSON.stringify(entry)}\n`);
}

/** Where to hand each piece of what one Warren writes to a standard stream. */
export function logRecorder(): (chunk: Buffer) => void {
  const directory = recordingDirectory;
  if (directory === undefined) return () => undefined;
  const file = fresh(directory, 'log');
  let size = 0;
  return (chunk) => {
    const kept = chunk.subarray(0, Math.max(0, MAX_LOG_BYTES - size));
    size += kept.length;
    if (kept.length > 0) appendFileSync(file, kept);
    if (kept.length < chunk.length) note(directory, { what: 'cut', bytes: chunk.length - kept.length, of: 'log' });
  };
}

/**
 * The environment in which a Warren has its HTTP answers written down, and logs all it can unless its test is about what
 * it logs by itself.
 */
export function recordedEnvironment(
  environment: Record<string, string>,
  log: 'debug' | 'as set' = 'debug',
): Record<string, string> {
  if (recordingDirectory === undefined) return environment;
  const preload = resolve('test/canary/record-answers.mjs');
  const options = `--import=${preload}?file=${encodeURIComponent(fresh(recordingDirectory, 'answers'))}`;
  // a test that asks for another level than the usual one is about that level
  const isUsual = (environment['LOG_LEVEL'] ?? 'info') === 'info';
  return { ...environment, ...(log === 'debug' && isUsual ? { LOG_LEVEL: log } : {}), NODE_OPTIONS: options };
}

/** Writes down the contents of a database that is about to go. */
export async function recordDatabase(connectionString: string): Promise<void> {
  const directory = recordingDirectory;
  if (directory === undefined) return;
  try {
    const { text, tables, cutRows } = await readDatabase(connectionString);
    appendFileSync(fresh(directory, 'database'), text);
    note(directory, { what: 'database', tables });
    if (cutRows > 0) note(directory, { what: 'cut', rows: cutRows, of: 'database' });
  } catch (error) {
    note(directory, { what: 'missed', of: 'database', why: String(error) });
  }
}

/** Searches a data directory that is about to go, where it is: a copy of a cluster would fill the disk. */
export function recordDataDirectory(dataDirectory: string): void {
  const directory = recordingDirectory;
  if (directory === undefined || !existsSync(dataDirectory)) return;
  let bytes = 0;
  let files = 0;
  const hits: unknown[] = [];
  for (const name of readdirSync(dataDirectory, { recursive: true, encoding: 'utf8' })) {
    const file = join(dataDirectory, name);
    if (KEEPERS.has(name) || statSync(file, { throwIfNoEntry: false })?.isFile() !== true) continue;
    const content = readFileSync(file);
    bytes += content.length;
    files += 1;
    hits.push(...findCanaries(content).map((hit) => ({ file: name, ...hit })));
  }
  note(directory, { what: 'data directory', bytes, files, hits });
}
