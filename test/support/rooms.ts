/** The floors of the product, low to high: a file imports from its own floor or a lower one. */
export const FLOORS = ['base', 'connections', 'catalog', 'grants', 'mods', 'runtime', 'composition', 'test'] as const;
export type Room = (typeof FLOORS)[number];

/** Files beside `src/cli/` that put the rooms together. */
const COMPOSITION = /^src\/(main|app|app\.module|openapi[\w.-]*)\.ts$/;

/** The room of a path from the root of the repository; undefined for a folder that is no room. */
export function roomOf(path: string): Room | undefined {
  const plain = path.replace(/\.(spec|e2e-spec)\.ts$/, '.ts');
  const [top, folder, ...below] = plain.split('/');
  if (top === 'test' || top === 'bench') return 'test';
  if (top === 'migrations') return 'base';
  if (top !== 'src' || folder === undefined) return undefined;
  if (below.length === 0) return COMPOSITION.test(plain) ? 'composition' : 'base';
  if (folder === 'cli') return 'composition';
  return FLOORS.find((room) => room === folder && room !== 'base' && room !== 'composition' && room !== 'test');
}

/** Height of a path's room; a path without a room stands above all, so that nothing may import it. */
export function floorOf(path: string): number {
  const room = roomOf(path);
  return room ? FLOORS.indexOf(room) : FLOORS.length;
}

/** True for tests beside their source. */
export function isSpec(path: string): boolean {
  return /\.(spec|e2e-spec)\.ts$/.test(path);
}

/** True for what stands outside the product: tests of the whole, benchmarks. */
export function isTest(path: string): boolean {
  return roomOf(path) === 'test';
}
