import { appendFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { recordingDirectory } from './recording.js';
import { CORE } from './search.mjs';

/**
 * A secret for a test to save that is known again wherever it turns up. `name` says whose it is; `shape` puts it into
 * other text, such as a line among others, and must keep it whole.
 */
export function canary(name: string, shape: (value: string) => string = (value) => value): string {
  const value = shape(`${CORE}-${name}-${randomBytes(9).toString('hex')}`);
  if (!value.includes(CORE)) throw new Error(`the canary ${name} has lost its core`);
  if (recordingDirectory !== undefined) {
    appendFileSync(join(recordingDirectory, `canaries-${process.pid}.jsonl`), `${JSON.stringify(value)}\n`);
  }
  return value;
}
