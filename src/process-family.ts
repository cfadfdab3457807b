import type { ProcessFacts } from './process-table.js';

/** A process that was started, by whom everything it starts is recognised. */
export interface FamilyHead {
  pid: number;
  /** Undefined where the system does not tell. */
  start: string | undefined;
  /** Its own alone: no other process was started with it. */
  marker: string | undefined;
}

/**
 * Everything a process started, itself included: what carries its marker, wherever it went, and the children of all
 * these, whatever environment they were given. What lost both, its parent and the marker, is not found.
 */
export function familyOf(table: readonly ProcessFacts[], head: FamilyHead): ProcessFacts[] {
  const members = new Set(
    table.filter(
      ({ pid, start, marker }) =>
        (pid === head.pid && start === head.start) || (marker !== undefined && marker === head.marker),
    ),
  );
  withDescendants(table, members);
  return [...members];
}

/** Adds the descendants of those in the set to it. */
export function withDescendants(table: readonly ProcessFacts[], members: Set<ProcessFacts>): void {
  const children = groupByParent(table);
  // a set also visits what is added meanwhile
  for (const parent of members) {
    for (const child of children.get(parent.pid) ?? []) {
      // an id that is used again is younger than those who knew its first owner as their parent
      if (Number(child.start) >= Number(parent.start)) members.add(child);
    }
  }
}

function groupByParent(table: readonly ProcessFacts[]): Map<number, ProcessFacts[]> {
  const children = new Map<number, ProcessFacts[]>();
  for (const facts of table) {
    const siblings = children.get(facts.parent);
    if (siblings === undefined) children.set(facts.parent, [facts]);
    else siblings.push(facts);
  }
  return children;
}
