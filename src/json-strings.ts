/** Far beyond any real answer, and a bound against a value that contains itself. */
const MAX_DEPTH = 100_000;

interface Task {
  readonly source: object;
  readonly target: unknown[] | Record<string, unknown>;
  readonly depth: number;
}

/**
 * A JSON value with every string, every member name and the digits of every number replaced by `map` of it. The given value is never
 * changed, and is answered itself when `map` changed nothing. Two names that become one are kept apart by a
 * `~2`, `~3` … behind the later ones.
 * @throws {RangeError} deeper than 100,000 levels
 */
export function mapJsonStrings(value: unknown, map: (text: string) => string): unknown {
  const tasks: Task[] = [];
  let changed = false;

  const mapText = (text: string): string => {
    const mapped = map(text);
    if (mapped !== text) changed = true;
    return mapped;
  };
  // a number whose digits `map` would change becomes that text
  const mapNumber = (number: number): unknown => {
    const text = String(number);
    const mapped = mapText(text);
    return mapped === text ? number : mapped;
  };
  const copy = (source: unknown, depth: number): unknown => {
    if (typeof source === 'string') return mapText(source);
    if (typeof source === 'number') return mapNumber(source);
    if (typeof source !== 'object' || source === null) return source;
    if (depth > MAX_DEPTH) throw new RangeError(`JSON values are bounded to ${MAX_DEPTH} levels`);
    const target = Array.isArray(source) ? [] : {};
    tasks.push({ source, target, depth });
    return target;
  };

  const result = copy(value, 0);
  // A list of tasks and not recursion: a deep value must not overflow the stack.
  for (let task = tasks.pop(); task !== undefined; task = tasks.pop()) {
    const { source, target, depth } = task;
    if (Array.isArray(target)) {
      for (const item of source as unknown[]) target.push(copy(item, depth + 1));
    } else {
      const freeName = nameKeeper(target);
      for (const [name, member] of Object.entries(source)) {
        setOwn(target, freeName(mapText(name)), copy(member, depth + 1));
      }
    }
  }
  return changed ? result : value;
}

/** Remembers the last number given to each name, so that many equal names cost no more than many different ones. */
function nameKeeper(target: Record<string, unknown>): (name: string) => string {
  const numbers = new Map<string, number>();
  return (name) => {
    if (!Object.hasOwn(target, name)) return name;
    let number = (numbers.get(name) ?? 1) + 1;
    while (Object.hasOwn(target, `${name}~${number}`)) number += 1;
    numbers.set(name, number);
    return `${name}~${number}`;
  };
}

function setOwn(target: Record<string, unknown>, name: string, value: unknown): void {
  if (name === '__proto__') {
    // Assignment would set the prototype in place of a member.
    Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
  } else {
    target[name] = value;
  }
}
