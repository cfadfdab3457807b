import { canonicalJson } from './canonical-json.js';

/**
 * The members that differ between two flat descriptions of a thing, as they were before and are after; undefined when
 * none does. Both hold JSON.
 */
export function differenceOf(
  before: Record<string, unknown>,
  after: Record<string, unknown>,
): { before: Record<string, unknown>; after: Record<string, unknown> } | undefined {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (name) => canonicalJson(before[name] ?? null) !== canonicalJson(after[name] ?? null),
  );
  if (names.length === 0) return undefined;
  const pick = (from: Record<string, unknown>): Record<string, unknown> =>
    Object.fromEntries(names.map((name) => [name, from[name] ?? null]));
  return { before: pick(before), after: pick(after) };
}
