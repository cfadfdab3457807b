import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK, type JWTHeaderParameters } from 'jose';

/** An authorization server as far as Warren asks one: its metadata and its public keys. Counts what it is asked. */
export class FakeIssuer {
  /** Paths in the order in which they were asked for. */
  readonly asked: string[] = [];
  /** Answered with 503 while false. */
  isUp = true;
  keys: JWK[] = [];

  private constructor(
    private readonly server: Server,
    readonly url: string,
    readonly publicKey: CryptoKey,
    private readonly privateKey: CryptoKey,
  ) {}

  static async start(): Promise<FakeIssuer> {
    const { publicKey, privateKey } = await generateKeyPair('RS256', { extractable: true });
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const issuer = new FakeIssuer(server, url, publicKey, privateKey);
    issuer.keys = [{ ...(await exportJWK(publicKey)), kid: 'one', alg: 'RS256', use: 'sig' }];
    server.on('request', (request, response) => {
      issuer.asked.push(request.url ?? '');
      const answers: Record<string, unknown> = {
        '/.well-known/openid-configuration': { issuer: url, jwks_uri: `${url}/keys` },
        '/keys': { keys: issuer.keys },
      };
      const answer = answers[request.url ?? ''];
      response.writeHead(issuer.isUp ? (answer === undefined ? 404 : 200) : 503, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answer ?? {}));
    });
    return issuer;
  }

  /** How often its keys were asked for. */
  get keyRequests(): number {
    return this.asked.filter((path) => path === '/keys').length;
  }

  /** A token that is right, but for what is given: `undefined` leaves a claim or header out. */
  sign(
    claims: Record<string, unknown> = {},
    header: Partial<JWTHeaderParameters> & Record<string, unknown> = {},
    key: CryptoKey | Uint8Array = this.privateKey,
  ): Promise<string> {
    const now = Math.floor(Date.now() / 1_000);
    const payload = { iss: this.url, aud: AUDIENCE, sub: 'someone', agent: 'own', iat: now, exp: now + 600, ...claims };
    // a copy by JSON leaves out what is undefined
    return new SignJWT(JSON.parse(JSON.stringify(payload)))
      .setProtectedHeader(JSON.parse(JSON.stringify({ alg: 'RS256', typ: 'at+jwt', kid: 'one', ...header })))
      .sign(key, header.crit === undefined ? {} : { crit: { [String(header.crit[0])]: true } });
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }
}

export const AUDIENCE = 'https://warren.example/mcp';

/** What makes a Warren trust an issuer. */
export function oauthEnvironment(issuer: FakeIssuer): Record<string, string> {
  return {
    WARREN_OAUTH_ISSUER: issuer.url,
    WARREN_OAUTH_AUDIENCE: AUDIENCE,
    WARREN_OAUTH_AGENT_CLAIM: 'agent',
  };
}
