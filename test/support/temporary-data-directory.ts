import { chmodSync, mkdtempSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { isRoot } from '../../src/data-directory.js';

/**
 * A fresh directory that the embedded database can live in. It lies in the directory of this test run, whose remains
 * are removed when the run ends, databases in it included.
 */
export function temporaryDataDirectory(): string {
  return openDirectory(process.env['TEST_RUN_DIRECTORY'] ?? freshRunDirectory());
}

/** A fresh directory for a test run. Root's is not under TMPDIR, which may lie in root's home. */
export function freshRunDirectory(): string {
  return openDirectory(isRoot() ? '/tmp' : os.tmpdir());
}

/** Under root PostgreSQL runs as another user, who must be able to pass through. */
function openDirectory(parent: string): string {
  const directory = mkdtempSync(path.join(parent, 'warren-test-'));
  if (isRoot()) chmodSync(directory, 0o711);
  return directory;
}
