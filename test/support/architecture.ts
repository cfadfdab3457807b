import { checkHouseRules } from './house-rules.js';
import { importCycles } from './import-cycles.js';
import { checkOutputs } from './output-places.js';
import { checkOwners } from './package-owners.js';
import { floorOf, FLOORS, isSpec, isTest, roomOf } from './rooms.js';
import { readSourceFile, type SourceFile } from './source-file.js';
import { checkSql } from './sql-places.js';
import type { Violation } from './violation.js';

/**
 * Checks a source tree against the rooms, floors and house rules of docs/architecture.md.
 * `sources` maps paths from the root of the repository to their text. Fewer than `minimumFiles` files under `src/`
 * is itself a violation: a check that read nothing must not pass.
 */
export function checkArchitecture(sources: ReadonlyMap<string, string>, minimumFiles: number): Violation[] {
  const files = [...sources].map(([path, text]) => readSourceFile(path, text));
  return [
    ...checkCount(files, minimumFiles),
    ...files.flatMap((file) =>
      [checkRoom, checkImports, checkSql, checkHouseRules, checkOutputs].flatMap((check) => check(file)),
    ),
    ...checkOwners(files),
    ...checkCycles(files),
  ];
}

function checkCount(files: readonly SourceFile[], minimum: number): Violation[] {
  const read = files.filter(({ path }) => path.startsWith('src/')).length;
  return read < minimum
    ? [{ rule: 'too-few-files', file: 'src', detail: `${read} files read of at least ${minimum}` }]
    : [];
}

function checkCycles(files: readonly SourceFile[]): Violation[] {
  return importCycles(files).map((cycle) => ({ rule: 'import-cycle', file: cycle[0], detail: cycle.join(' -> ') }));
}

function checkRoom({ path }: SourceFile): Violation[] {
  return roomOf(path) ? [] : [{ rule: 'unknown-room', file: path, detail: `no room among ${FLOORS.join(', ')}` }];
}

function checkImports({ path, imports }: SourceFile): Violation[] {
  const found: Violation[] = [];
  for (const { target } of imports) {
    if (!target || isTest(path)) continue;
    if (floorOf(target) > floorOf(path) && !(isSpec(path) && isTest(target))) {
      found.push({ rule: 'upward-import', file: path, detail: `${roomOf(path)} imports ${target}` });
    }
    if (target.endsWith('.repository.ts') && roomOf(target) !== roomOf(path)) {
      found.push({ rule: 'private-repository', file: path, detail: `${target} is private to its folder` });
    }
  }
  return found;
}
