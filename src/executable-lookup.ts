import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, resolve } from 'node:path';
import { systemErrorCode } from './system-error.js';

/** What a command name leads to on the service's PATH. */
export type ExecutableLookup =
  | { found: true; path: string }
  | {
      found: false;
      reason: 'executable_not_found' | 'executable_not_permitted';
      /** For operators: says where it was looked for. */
      detail: string;
      /** For agents: names nothing of this machine but the command. */
      brief: string;
    };

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
      case 'hidden':
        // a directory of PATH that this user may not search is passed over, but a path that was spelled out is meant
        blocked ||= command.includes('/');
        break;
      case 'absent':
        break;
    }
  }
  const hint = /\s/.test(command.trim()) ? ' A blank is part of the name here: put arguments into args.' : '';
  const name = command.slice(command.lastIndexOf('/') + 1) || command;
  if (blocked) {
    return {
      found: false,
      reason: 'executable_not_permitted',
      detail: `${command} exists but is not an executable file for this service.${hint}`,
      brief: `${name} is not an executable file for this service.${hint}`,
    };
  }
  const where = command.includes('/')
    ? `relative to ${isAbsolute(command) ? '/' : 'the working directory'}`
    : `on the service's PATH: ${searchPath}`;
  return {
    found: false,
    reason: 'executable_not_found',
    detail: `${command} was not found ${where}.${hint}`,
    brief: `${name} was not found on this server.${hint}`,
  };
}

async function examine(path: string): Promise<'executable' | 'not_permitted' | 'hidden' | 'absent'> {
  try {
    const entry = await stat(path);
    if (!entry.isFile()) return 'not_permitted';
  } catch (error) {
    return systemErrorCode(error) === 'EACCES' ? 'hidden' : 'absent';
  }
  return access(path, constants.X_OK).then(
    () => 'executable' as const,
    () => 'not_permitted' as const,
  );
}
