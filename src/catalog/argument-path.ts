const MAX_PATH = 300;

/**
 * Writes a JSON pointer into the arguments as a path a model reads: `arguments.items[2].name`; `member` is added at the
 * end. Cut at 300 characters.
 */
export function argumentPath(pointer: string, data: unknown, member?: string): string {
  let path = 'arguments';
  let container = data;
  for (const segment of segmentsOf(pointer)) {
    path += Array.isArray(container) ? `[${segment}]` : property(segment);
    container = memberOf(container, segment);
  }
  if (member !== undefined) path += property(member);
  return path.length > MAX_PATH ? `${path.slice(0, MAX_PATH - 1)}…` : path;
}

/** The value a JSON pointer leads to; own members only. */
export function argumentAt(pointer: string, data: unknown): unknown {
  return segmentsOf(pointer).reduce(memberOf, data);
}

function segmentsOf(pointer: string): string[] {
  const segments = pointer.split('/').slice(1);
  return segments.map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function property(name: string): string {
  return /^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
}

function memberOf(container: unknown, name: string): unknown {
  if (typeof container !== 'object' || container === null || !Object.hasOwn(container, name)) return undefined;
  return (container as Record<string, unknown>)[name];
}
