export interface JsonMeasure {
  /** Size of the compact JSON text in UTF-8 bytes. */
  bytes: number;
  /** Levels of nesting: 0 for a scalar, 1 for a flat object or array. */
  depth: number;
}

/** Measures a parsed JSON value without recursion, so that no nesting depth can overflow the stack. */
export function measureJson(value: unknown): JsonMeasure {
  let bytes = 0;
  let depth = 0;
  const pending: object[] = [];
  const levels: number[] = [];
  const count = (member: unknown, level: number) => {
    if (typeof member === 'object' && member !== null) {
      pending.push(member);
      levels.push(level);
    } else {
      bytes += scalarBytes(member);
    }
  };
  count(value, 1);
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const level = levels.pop() ?? 1;
    depth = Math.max(depth, level);
    const members: unknown[] = Array.isArray(next) ? next : Object.values(next);
    bytes += 2 + Math.max(0, members.length - 1);
    if (members !== next) for (const key of Object.keys(next)) bytes += textBytes(key) + 1;
    for (const member of members) count(member, level + 1);
  }
  return { bytes, depth };
}

function scalarBytes(value: unknown): number {
  if (typeof value === 'string') return textBytes(value);
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return String(value).length;
  return 0;
}

function textBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text));
}
