const MAX_SUGGESTIONS = 5;
/** Names compared at most; a model needs a hint, not a search. */
const MAX_COMPARED = 2_000;

/** Up to 5 names near the one asked for: same when case and separators are ignored, containing it, or few edits away. */
export function nearestNames(asked: string, names: Iterable<string>): string[] {
  const wanted = plain(asked).slice(0, 100);
  if (wanted === '') return [];
  const ranked: { name: string; distance: number }[] = [];
  let compared = 0;
  for (const name of names) {
    compared += 1;
    if (compared > MAX_COMPARED) break;
    const distance = distanceOf(wanted, plain(name).slice(0, 100));
    if (distance !== undefined) ranked.push({ name, distance });
  }
  return ranked
    .toSorted((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
    .slice(0, MAX_SUGGESTIONS)
    .map(({ name }) => name);
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
}

function distanceOf(wanted: string, candidate: string): number | undefined {
  if (candidate === '') return undefined;
  if (candidate === wanted) return 0;
  if (candidate.includes(wanted) || wanted.includes(candidate)) return 1;
  const distance = editDistance(wanted, candidate);
  return distance <= Math.max(2, Math.floor(wanted.length / 3)) ? 1 + distance : undefined;
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const substitution = (previous[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      current.push(Math.min((previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1, substitution));
    }
    previous = current;
  }
  return previous[b.length] ?? 0;
}
