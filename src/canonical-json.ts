import { createHash } from 'node:crypto';

/** Far beyond any real schema, and a bound against a value that contains itself. */
const MAX_DEPTH = 20_000;
const LONE_SURROGATE = /\p{Surrogate}/u;

/** A value still to write, or text to write as it is. */
type Step = { readonly value: unknown; readonly depth: number } | string;

/**
 * The canonical form of a JSON value by RFC 8785: no blanks, members in the order of their names' UTF-16 code
 * units, numbers and strings as ECMAScript writes them. Members that are `undefined` are left out.
 * @throws {TypeError} for anything else JSON cannot hold, and for lone surrogates (RFC 8785 section 3.2.2.2)
 * @throws {RangeError} deeper than 20,000 levels
 */
export function canonicalJson(value: unknown): string {
  let text = '';
  // A stack of our own: a deep schema must not overflow the engine's.
  const steps: Step[] = [{ value, depth: 0 }];
  for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
    if (typeof step === 'string') text += step;
    else if (typeof step.value === 'object' && step.value !== null)
      text += openContainer(step.value, step.depth, steps);
    else text += scalar(step.value);
  }
  return text;
}

/** SHA-256 of a text's UTF-8 bytes, in lower-case hex. */
export function sha256Hex(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}

/** Queues what is inside (last first, since steps are taken from the end) and answers the opening bracket. */
function openContainer(container: object, depth: number, steps: Step[]): string {
  if (depth >= MAX_DEPTH) throw new RangeError(`canonical JSON is bounded to ${MAX_DEPTH} levels`);
  if (Array.isArray(container)) {
    steps.push(']');
    for (let index = container.length - 1; index >= 0; index -= 1) {
      steps.push({ value: container[index], depth: depth + 1 });
      if (index > 0) steps.push(',');
    }
    return '[';
  }
  if (!isPlainObject(container)) throw new TypeError('canonical JSON holds plain objects and arrays only');
  const members = Object.entries(container).filter(([, value]) => value !== undefined);
  // JavaScript compares strings by UTF-16 code unit, which is the order RFC 8785 asks for.
  members.sort(([a], [b]) => (a < b ? 1 : -1));
  steps.push('}');
  for (const [index, [name, value]] of members.entries()) {
    steps.push({ value, depth: depth + 1 }, `${quote(name)}:`);
    if (index < members.length - 1) steps.push(',');
  }
  return '{';
}

function scalar(value: unknown): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return quote(value);
  if (typeof value === 'number' && Number.isFinite(value)) return JSON.stringify(value);
  throw new TypeError(`canonical JSON cannot hold ${typeof value === 'number' ? String(value) : typeof value}`);
}

function quote(text: string): string {
  if (LONE_SURROGATE.test(text)) throw new TypeError('canonical JSON cannot hold a lone surrogate');
  return JSON.stringify(text);
}

function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  // The prototype's own prototype, so that an object of another realm is plain too.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
