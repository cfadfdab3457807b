/** How a JSON value stands to bounds on its text and its nesting. */
export type Fit = 'fits' | 'too_large' | 'too_deep';

/**
 * Whether the compact JSON text of a value may have at most `characters`, escapes not counted, and its nesting at most
 * `levels`. Looks no further than it has to: the work is bounded by `characters`, however large the value is.
 */
export function fitOf(value: unknown, { characters, levels }: { characters: number; levels: number }): Fit {
  let length = lengthOf(value);
  const pending = isContainer(value) ? [{ container: value, level: 1 }] : [];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { container, level } = next;
    if (level > levels) return 'too_deep';
    const isList = Array.isArray(container);
    const names = isList ? undefined : Object.keys(container);
    const count = names?.length ?? (container as unknown[]).length;
    // each member takes a character and a comma, under a name three more
    if (length + count * (isList ? 2 : 5) - 1 > characters) return 'too_large';
    for (let index = 0; index < count; index += 1) {
      const name = names?.[index];
      const member: unknown = name === undefined ? (container as unknown[])[index] : Reflect.get(container, name);
      length += (name === undefined ? 1 : name.length + 4) + lengthOf(member);
      if (length > characters + 1) return 'too_large';
      if (isContainer(member)) pending.push({ container: member, level: level + 1 });
    }
  }
  return length > characters + 1 ? 'too_large' : 'fits';
}

/**
 * How many values a JSON value holds inside of it, members of members included. Looks no further than at the bounds:
 * `values` of them, and `levels` of nesting.
 */
export function sizeOf(
  value: unknown,
  { values, levels }: { values: number; levels: number },
): number | Exclude<Fit, 'fits'> {
  let size = 0;
  const pending = isContainer(value) ? [{ container: value, level: 1 }] : [];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { container, level } = next;
    if (level > levels) return 'too_deep';
    const names = Array.isArray(container) ? undefined : Object.keys(container);
    size += names?.length ?? (container as unknown[]).length;
    if (size > values) return 'too_large';
    const members =
      names === undefined ? (container as unknown[]) : names.map((name): unknown => Reflect.get(container, name));
    for (const member of members) if (isContainer(member)) pending.push({ container: member, level: level + 1 });
  }
  return size;
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function lengthOf(value: unknown): number {
  if (typeof value === 'string') return value.length + 2;
  return isContainer(value) ? 2 : String(value).length;
}
