import { trustedUrl } from './config.oauth.js';
import { Deadline } from './deadline.js';
import type { OauthSettings } from './oauth.settings.js';

type Fetch = (input: string, init: RequestInit) => Promise<Response>;

/** Longest an authorization server may take for its keys, discovery included, milliseconds. */
const FETCH_MS = 5_000;
/** Largest document that is read, bytes; key sets are some kilobytes. */
const MAX_BYTES = 512 * 1_024;

/** Asks the authorization server for its public keys: at the configured URL, or at the one its metadata names. */
export class OauthKeySource {
  /** What the metadata named, until the keys are no longer there. */
  private found: string | undefined;

  constructor(
    private readonly fetch: Fetch,
    private readonly settings: Pick<OauthSettings, 'issuer' | 'jwksUrl'>,
  ) {}

  /** The key set as it came. Errors: when it cannot be had within 5 s. */
  async read(): Promise<unknown> {
    const deadline = new Deadline(FETCH_MS);
    try {
      const url = this.settings.jwksUrl ?? this.found ?? (await this.discover(deadline.signal));
      const keys = await this.document(url, deadline.signal);
      if (keys === undefined) throw new Error('the authorization server has no keys at the URL of its key set');
      this.found = url;
      return keys;
    } catch (error) {
      this.found = undefined;
      throw error;
    } finally {
      deadline.end();
    }
  }

  private async discover(signal: AbortSignal): Promise<string> {
    for (const url of metadataUrls(this.settings.issuer)) {
      const metadata = await this.document(url, signal);
      if (metadata === undefined) continue;
      if (metadata['issuer'] !== this.settings.issuer) {
        throw new Error('the metadata of the authorization server names another issuer');
      }
      return trustedUrl(String(metadata['jwks_uri']));
    }
    throw new Error('the authorization server has no metadata; set WARREN_OAUTH_JWKS_URL');
  }

  /** A JSON object, or undefined where there is none. */
  private async document(url: string, signal: AbortSignal): Promise<Record<string, unknown> | undefined> {
    const response = await this.fetch(url, { headers: { accept: 'application/json' }, signal });
    if (response.status !== 200) {
      await response.body?.cancel();
      if (response.status === 404) return undefined;
      throw new Error(`the authorization server answered ${response.status}`);
    }
    const value: unknown = JSON.parse(await boundedText(response));
    if (typeof value !== 'object' || value === null) throw new Error('the authorization server sent no JSON object');
    return value as Record<string, unknown>;
  }
}

async function boundedText({ body }: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of (body ?? []) as AsyncIterable<Uint8Array>) {
    size += part.byteLength;
    if (size > MAX_BYTES) throw new Error(`the authorization server sent more than ${MAX_BYTES} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

/** Where an issuer's metadata may be, in the order of the MCP specification (RFC 8414, OpenID Connect Discovery). */
export function metadataUrls(issuer: string): string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  const [oauth, openId] = ['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration'];
  const inserted = [`${origin}${oauth}${path}`, `${origin}${openId}${path}`];
  return path === '' ? inserted : [...inserted, `${origin}${path}${openId}`];
}
