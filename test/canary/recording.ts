import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';

const NAMED = process.env['WARREN_TEST_RECORDING'] ?? '';

/** Where this run of the tests writes down all that its Warrens say and keep; undefined when nobody asked for it. */
export const recordingDirectory = NAMED === '' ? undefined : resolve(NAMED);

if (recordingDirectory !== undefined) mkdirSync(recordingDirectory, { recursive: true });
