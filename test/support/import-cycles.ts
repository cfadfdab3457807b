import type { SourceFile } from './source-file.js';

/** A closed path of imports; the first file is repeated at the end. */
type Cycle = [string, ...string[]];

/**
 * Import cycles among `files`, types included, at least one for each group of files that import each other.
 * Depth-first: an import of a file that is still on the current path closes a cycle.
 */
export function importCycles(files: readonly SourceFile[]): Cycle[] {
  const targets = new Map(files.map(({ path, imports }) => [path, imports.map(({ target }) => target)]));
  const done = new Set<string>();
  const cycles: Cycle[] = [];

  const visit = (path: string, trail: string[]): void => {
    const start = trail.indexOf(path);
    if (start >= 0) cycles.push([path, ...trail.slice(start + 1), path]);
    if (start >= 0 || done.has(path)) return;
    for (const target of targets.get(path) ?? []) {
      if (target !== undefined) visit(target, [...trail, path]);
    }
    done.add(path);
  };
  for (const { path } of files) visit(path, []);
  return cycles;
}
