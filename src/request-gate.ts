import { Injectable } from '@nestjs/common';
import { unauthenticated, type AuthenticatedRequest } from './access.guard.js';
import { CredentialsService } from './credentials.service.js';
import { ProblemError } from './errors.js';
import { HostCheck } from './host-check.js';
import { PresentedTokens } from './presented-tokens.js';
import { METADATA_PATHS } from './oauth.settings.js';
import { OauthService } from './oauth.service.js';
import { expiryOf, type Principal } from './principal.js';
import { RateBounds } from './rate-bounds.js';
import { Readiness } from './readiness.js';

/** Reached without a token and under any host name. */
const OPEN_PREFIXES = ['/health/', '/docs/', '/schemas/'];
const OPEN_PATHS = new Set(['/openapi.json', '/docs']);
/** Longest path with its query, characters. */
const MAX_URL_CHARACTERS = 8_192;

/**
 * What every request passes before its body is read: whether this process still accepts work, host and origin, then the
 * bearer token and the rate bounds. Unknown paths need a token too, so nothing about the routes is told to strangers.
 */
@Injectable()
export class RequestGate {
  constructor(
    private readonly hosts: HostCheck,
    private readonly credentials: CredentialsService,
    private readonly oauth: OauthService,
    private readonly tokens: PresentedTokens,
    private readonly readiness: Readiness,
    private readonly rates: RateBounds,
  ) {}

  /**
   * Sets `request.principal`.
   * Errors: `shutting_down`, `uri_too_long`, `host_not_allowed`, `origin_not_allowed`, `unauthenticated`, `rate_limited`,
   * `authorization_server_unavailable`.
   */
  async admit(request: AuthenticatedRequest): Promise<void> {
    const path = request.url.split('?', 1)[0] ?? '';
    if (path.startsWith('/health/')) return;
    if (this.readiness.isDraining) {
      throw new ProblemError('shutting_down', 'The server is shutting down.', { retryAfterSeconds: 1 });
    }
    if (request.url.length > MAX_URL_CHARACTERS) {
      throw new ProblemError('uri_too_long', `The path and its query may have ${MAX_URL_CHARACTERS} characters.`);
    }
    if (!this.hosts.allowsHost(request.headers.host)) {
      throw new ProblemError('host_not_allowed', 'This host name is not allowed; add it to WARREN_ALLOWED_HOSTS.');
    }
    if (!this.hosts.allowsOrigin(request.headers.origin)) {
      throw new ProblemError('origin_not_allowed', 'This origin is not allowed; add its host to WARREN_ALLOWED_HOSTS.');
    }
    if (this.oauth.settings !== undefined && METADATA_PATHS.includes(path)) return;
    if (OPEN_PATHS.has(path) || OPEN_PREFIXES.some((prefix) => path.startsWith(prefix))) return;
    const { authorization } = request.headers;
    // who shows nothing has tried nothing
    if (authorization === undefined) throw unauthenticated();
    const token = bearerToken(authorization);
    // by the token, which has one spelling: a header of one token can be written in any number of ways
    const principal = await this.rates.authentication(request.socket.remoteAddress, token ?? '', () =>
      this.authenticate(token),
    );
    if (principal === undefined) throw unauthenticated();
    // an authorization server gives one agent many tokens
    const isForeign = expiryOf(principal) !== null;
    this.rates.request(isForeign && principal.kind === 'agent' ? `agent ${principal.agentId}` : principal.credentialId);
    request.principal = principal;
  }

  private async authenticate(token: string | undefined): Promise<Principal | undefined> {
    if (token === undefined) return undefined;
    // no token of Warren's own has a dot
    const checks = token.includes('.') ? this.oauth : this.credentials;
    const principal = await checks.authenticate(token);
    return principal && { ...principal, redactor: this.tokens.redactorOf(token) };
  }
}

function bearerToken(header: string): string | undefined {
  return /^Bearer +([^\s]{1,8192}) *$/i.exec(header)?.[1];
}
