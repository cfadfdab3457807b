import type { WorkBudget } from './work-budget.js';
import { measureJson } from './json-measure.js';

/** Whether no two items are equal as JSON, in time linear in their size (comparing all pairs is not). */
export function hasUniqueItems(items: readonly unknown[], budget: WorkBudget): boolean {
  budget.spend(2 * measureJson(items).bytes);
  return new Set(items.map(canonical)).size === items.length;
}

/** JSON text with sorted keys. Recursive: the depth of arguments is bounded before. */
function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  const members = Object.entries(value).toSorted(([left], [right]) => (left < right ? -1 : 1));
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`).join(',')}}`;
}
