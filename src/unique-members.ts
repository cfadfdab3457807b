import { endOfString } from './json-depth.js';

/**
 * True when an object of this JSON text, at any depth, names a member twice: parsers differ in which one counts, so what
 * is signed must not hold any. The text must be valid JSON.
 */
export function hasDuplicateMembers(json: string): boolean {
  /** For each open object the names seen, for each open array nothing. */
  const open: (Set<string> | undefined)[] = [];
  let isName = false;
  for (let at = 0; at < json.length; at += 1) {
    switch (json.charAt(at)) {
      case '{':
        open.push(new Set());
        isName = true;
        break;
      case '[':
        open.push(undefined);
        isName = false;
        break;
      case '}':
      case ']':
        open.pop();
        isName = false;
        break;
      case ',':
        isName = open.at(-1) !== undefined;
        break;
      case '"': {
        const end = endOfString(json, at + 1);
        const names = open.at(-1);
        if (isName && names !== undefined) {
          const name = JSON.parse(json.slice(at, end + 1)) as string;
          if (names.has(name)) return true;
          names.add(name);
        }
        isName = false;
        at = end;
        break;
      }
    }
  }
  return false;
}
