import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

/** Reads every TypeScript file below `folders` of `root`; keys are paths from `root` with forward slashes. */
export function readSources(root: string, folders: readonly string[]): Map<string, string> {
  const present = folders.filter((folder) => existsSync(join(root, folder)));
  const paths = present.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts') && !name.includes('node_modules'))
      .map((name) => posix.join(folder, name.replaceAll('\\', '/'))),
  );
  return new Map(paths.toSorted().map((path) => [path, readFileSync(join(root, path), 'utf8')]));
}
