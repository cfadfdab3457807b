import { chmodSync, existsSync, mkdirSync, readdirSync, realpathSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { EmbeddedPostgresError } from './embedded-postgres.error.js';
import { errorText } from './system-error.js';

/** True when this process may change to other users; never on Windows. */
export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/**
 * Where Warren keeps its keys and its embedded database unless told otherwise. Root's is outside root's home, because
 * PostgreSQL runs as another user there and must be able to reach it.
 */
export function defaultDataDirectory(): string {
  return isRoot() ? '/var/lib/warren' : path.join(os.homedir(), '.warren');
}

/**
 * Creates the data directory when it is missing and returns its real path. A new one is private (0700); root's may be
 * passed through by others (0711), so that the database's user reaches its cluster. An existing one keeps its mode.
 * Errors: `EmbeddedPostgresError` when it cannot be created or is not a directory.
 */
export function prepareDataDirectory(dataDirectory: string): string {
  const directory = path.resolve(dataDirectory);
  try {
    if (!existsSync(directory)) {
      mkdirSync(directory, { recursive: true });
      // Set afterwards: the mode given to mkdir is cut down by the umask.
      chmodSync(directory, isRoot() ? 0o711 : 0o700);
    }
    // A plain file fails here.
    readdirSync(directory);
    return realpathSync(directory);
  } catch (error) {
    throw new EmbeddedPostgresError(
      `The data directory ${directory} cannot be used: ${errorText(error)}. ` +
        'Set WARREN_DATA_DIR to a directory that this user may write.',
      { cause: error },
    );
  }
}
