import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { dirname, join } from 'node:path';

/** Warren's version, from its package file (which lies above `src` and above `dist/src`). */
export const version: string = findVersion(dirname(fileURLToPath(import.meta.url)));

function findVersion(directory: string): string {
  try {
    const manifest = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as {
      name?: string;
      version?: string;
    };
    if (manifest.name === 'warren' && manifest.version !== undefined) return manifest.version;
  } catch {
    // not here: look one higher
  }
  return directory === dirname(directory) ? '0.0.0' : findVersion(dirname(directory));
}
