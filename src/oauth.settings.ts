import type { OauthAlgorithm } from './config.oauth.js';
import type { Settings } from './config.js';

/** Where `/mcp` tells a client who may let it in (RFC 9728); the second form is for the path of `/mcp` itself. */
export const METADATA_PATH = '/.well-known/oauth-protected-resource';
export const METADATA_PATHS: readonly string[] = [METADATA_PATH, `${METADATA_PATH}/mcp`];

/** The authorization server whose tokens open `/mcp` beside Warren's own. */
export interface OauthSettings {
  /** As in its tokens, to the character. */
  issuer: string;
  /** The URL of `/mcp` as clients reach it. */
  audience: string;
  jwksUrl: string | undefined;
  /** The claim whose value is the id of an agent. */
  agentClaim: string;
  algorithms: readonly OauthAlgorithm[];
  /** The 401 of `/mcp` says where to ask for a token. */
  challenge: string;
}

/** Undefined when OAuth is not configured. */
export function oauthSettings(settings: Settings): OauthSettings | undefined {
  const {
    WARREN_OAUTH_ISSUER: issuer,
    WARREN_OAUTH_AUDIENCE: audience,
    WARREN_OAUTH_AGENT_CLAIM: agentClaim,
  } = settings;
  if (issuer === undefined || audience === undefined || agentClaim === undefined) return undefined;
  const { origin, pathname } = new URL(audience);
  const metadata = `${origin}${METADATA_PATH}${pathname === '/' ? '' : pathname}`;
  return {
    issuer,
    audience,
    agentClaim,
    jwksUrl: settings.WARREN_OAUTH_JWKS_URL,
    algorithms: settings.WARREN_OAUTH_ALGORITHMS,
    challenge: `Bearer resource_metadata="${metadata}"`,
  };
}
