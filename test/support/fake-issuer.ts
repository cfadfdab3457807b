import { createPublicKey, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export const AUDIENCE = 'https://warren.example/mcp';

/** An authorization server as far as Warren asks one: its metadata and its public keys. Counts what it is asked. */
export class FakeIssuer {
  /** Paths in the order in which they were asked for. */
  readonly asked: string[] = [];
  /** Of its one key that can be used, whose id is `one`. */
  readonly privateKey: KeyObject = newKey();

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {
    const noPoint = { kty: 'EC', crv: 'P-256', kid: 'broken', x: 'AAAA', y: 'AAAA' };
    const keys = [{ ...this.publicKey.export({ format: 'jwk' }), kid: 'one', use: 'sig' }, noPoint];
    const answers: Record<string, unknown> = {
      '/.well-known/openid-configuration': { issuer: url, jwks_uri: `${url}/keys` },
      '/keys': { keys },
    };
    server.on('request', (request, response) => {
      this.asked.push(request.url ?? '');
      const answer = answers[request.url ?? ''];
      response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answer ?? {}));
    });
  }

  static async start(): Promise<FakeIssuer> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new FakeIssuer(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  }

  get publicKey(): KeyObject {
    return createPublicKey(this.privateKey);
  }

  /** How often its keys were asked for. */
  get keyRequests(): number {
    return this.asked.filter((path) => path === '/keys').length;
  }

  /** What makes a Warren trust it. */
  get environment(): Record<string, string> {
    return {
      WARREN_OAUTH_ISSUER: this.url,
      WARREN_OAUTH_AUDIENCE: AUDIENCE,
      WARREN_OAUTH_AGENT_CLAIM: 'agent',
    };
  }

  /** The claims of a token that is right, but for what is given; `undefined` leaves one out. */
  claims(changed: Record<string, unknown> = {}): string {
    const now = Math.floor(Date.now() / 1_000);
    return JSON.stringify({ iss: this.url, aud: AUDIENCE, agent: 'own', iat: now, exp: now + 600, ...changed });
  }

  /** A token that is right, but for what is given. */
  token(claims: Record<string, unknown> = {}, header: Record<string, unknown> = {}, key = this.privateKey): string {
    return this.signed(
      JSON.stringify({ alg: 'RS256', typ: 'at+jwt', kid: 'one', ...header }),
      this.claims(claims),
      key,
    );
  }

  /** These very texts, signed as RSA keys sign, whatever they say. */
  signed(header: string, claims: string, key = this.privateKey, hash = 'sha256'): string {
    const text = `${encoded(header)}.${encoded(claims)}`;
    return `${text}.${sign(hash, Buffer.from(text), key).toString('base64url')}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }
}

export function newKey(): KeyObject {
  return generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey;
}

export function encoded(text: string): string {
  return Buffer.from(text).toString('base64url');
}
