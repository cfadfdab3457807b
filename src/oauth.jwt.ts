import { hasDuplicateMembers } from './unique-members.js';

const FORM = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;
/** Kinds of token that may open anything: unnamed, plain, and those of RFC 9068. */
const TYPES = new Set(['jwt', 'at+jwt', 'application/at+jwt']);
const MAX_KEY_ID_CHARACTERS = 256;

/**
 * Whether a token is a JWT that is worth checking at all: three parts, each member named once, one of these algorithms,
 * no extension that would have to be understood, and not of another kind, an ID token for logging out, say. What it
 * says of keys (`jwk`, `jku`, `x5u`, `x5c`) is never looked at. Pure; proves nothing.
 */
export function isPlausibleJwt(token: string, algorithms: readonly string[]): boolean {
  if (!FORM.test(token)) return false;
  const [header, claims] = token.split('.').slice(0, 2).map(objectOf);
  if (header === undefined || claims === undefined) return false;
  const { alg, typ, kid } = header;
  return (
    typeof alg === 'string' &&
    algorithms.includes(alg) &&
    !('crit' in header) &&
    !('b64' in header) &&
    (typ === undefined || (typeof typ === 'string' && TYPES.has(typ.toLowerCase()))) &&
    (kid === undefined || (typeof kid === 'string' && kid.length <= MAX_KEY_ID_CHARACTERS))
  );
}

function objectOf(part: string): Record<string, unknown> | undefined {
  const json = Buffer.from(part, 'base64url').toString('utf8');
  try {
    const value: unknown = JSON.parse(json);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject && !hasDuplicateMembers(json) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
