/** Signatures that need no shared secret: whoever checks one cannot make one. */
export const oauthAlgorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
] as const;
export type OauthAlgorithm = (typeof oauthAlgorithms)[number];

const NEEDED = ['WARREN_OAUTH_ISSUER', 'WARREN_OAUTH_AUDIENCE', 'WARREN_OAUTH_AGENT_CLAIM'] as const;
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);
/** What these mean is fixed, so none of them can name an agent. */
const FIXED_CLAIMS = new Set(['iss', 'aud', 'exp', 'nbf', 'iat', 'jti']);

/** A URL that nobody on the way can answer in its place. Errors: a sentence for whoever set it. */
export function trustedUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isTrusted = url?.protocol === 'https:' || (url?.protocol === 'http:' && LOOPBACK.has(url.hostname));
  if (url === undefined || !isTrusted || url.username !== '' || url.password !== '' || url.hash !== '') {
    throw new Error(
      'must be a URL starting with https:// (http:// on a loopback host only), without user and fragment',
    );
  }
  return text;
}

export function algorithms(text: string): OauthAlgorithm[] {
  const given = text.split(/[,\s]+/).filter((entry) => entry !== '');
  const known = given.flatMap((entry) => oauthAlgorithms.filter((algorithm) => algorithm === entry));
  if (known.length === 0 || known.length < given.length) {
    throw new Error(`must be a list of: ${oauthAlgorithms.join(', ')}`);
  }
  return known;
}

export function agentClaim(text: string): string {
  if (text.length > 256 || FIXED_CLAIMS.has(text)) {
    throw new Error(`must be a claim of at most 256 characters, and none of ${[...FIXED_CLAIMS].join(', ')}`);
  }
  return text;
}

/** Half a configuration would leave `/mcp` other than its operator thinks. Names each variable that is missing. */
export function oauthProblems(isSet: (name: string) => boolean): string[] {
  const set = [...NEEDED, 'WARREN_OAUTH_JWKS_URL', 'WARREN_OAUTH_ALGORITHMS'].filter(isSet);
  if (set.length === 0) return [];
  return NEEDED.filter((name) => !isSet(name)).map(
    (name) => `${name} is missing: OAuth needs ${NEEDED.join(', ')}, and ${set.join(', ')} is set`,
  );
}
