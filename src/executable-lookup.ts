import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, resolve } from 'node:path';
import { systemErrorCode } from './system-error.js';

/** What a command name leads to on the service's PATH. */
export type ExecutableLookup =
  | { found: true; path: string }
  | { found: false; reason: 'executable_not_found' | 'executable_not_permitted'; detail: string };

/**
 * Looks a command up as the system would: a bare name on `searchPath`, a path with a slash relative to
 * `workingDirectory`. Never asks a shell; a blank in the name is part of the name.
 */
export async function findExecutable(
  command: string,
  searchPath: string,
  workingDirectory: string,
): Promise<ExecutableLookup> {
  const candidates = command.includes('/')
    ? [isAbsolute(command) ? command : resolve(workingDirectory, command)]
    : searchPath
        .split(delimiter)
        .filter((directory) => directory !== '')
        .map((directory) => resolve(directory, command));
  let blocked = false;
  for (const candidate of candidates) {
    switch (await examine(candidate)) {
      case 'executable':
        return { found: true, path: candidate };
      case 'not_permitted':
        blocked = true;
        break;
      case 'absent':
        break;
    }
  }
  const hint = /\s/.test(command.trim()) ? ' A blank is part of the name here: put arguments into args.' : '';
  if (blocked) {
    return {
      found: false,
      reason: 'executable_not_permitted',
      detail: `${command} exists but is not an executable file for this service.${hint}`,
    };
  }
  const where = command.includes('/')
    ? `relative to ${isAbsolute(command) ? '/' : 'the working directory'}`
    : `on the service's PATH: ${searchPath}`;
  return { found: false, reason: 'executable_not_found', detail: `${command} was not found ${where}.${hint}` };
}

async function examine(path: string): Promise<'executable' | 'not_permitted' | 'absent'> {
  try {
    const entry = await stat(path);
    if (!entry.isFile()) return 'not_permitted';
    await access(path, constants.X_OK);
    return 'executable';
  } catch (error) {
    const code = systemErrorCode(error);
    return code === 'EACCES' || code === 'EPERM' ? 'not_permitted' : 'absent';
  }
}
