import { Injectable } from '@nestjs/common';
import { unauthenticated, type AuthenticatedRequest } from './access.guard.js';
import { CredentialsService } from './credentials.service.js';
import { ProblemError } from './errors.js';
import { HostCheck } from './host-check.js';
import { PresentedTokens } from './presented-tokens.js';
import { Readiness } from './readiness.js';

/** Reached without a token and under any host name. */
const OPEN_PREFIXES = ['/health/', '/docs/', '/schemas/'];
const OPEN_PATHS = new Set(['/openapi.json', '/docs']);

/**
 * What every request passes before its body is read: whether this process still accepts work, host and origin, then the bearer token. Unknown paths need a token
 * too, so nothing about the routes is told to strangers.
 */
@Injectable()
export class RequestGate {
  constructor(
    private readonly hosts: HostCheck,
    private readonly credentials: CredentialsService,
    private readonly tokens: PresentedTokens,
    private readonly readiness: Readiness,
  ) {}

  /** Errors: `shutting_down`, `host_not_allowed`, `origin_not_allowed`, `unauthenticated`. Sets `request.principal`. */
  async admit(request: AuthenticatedRequest): Promise<void> {
    const path = request.url.split('?', 1)[0] ?? '';
    if (path.startsWith('/health/')) return;
    if (this.readiness.isDraining) {
      throw new ProblemError('shutting_down', 'The server is shutting down.', { retryAfterSeconds: 1 });
    }
    if (!this.hosts.allowsHost(request.headers.host)) {
      throw new ProblemError('host_not_allowed', 'This host name is not allowed; add it to WARREN_ALLOWED_HOSTS.');
    }
    if (!this.hosts.allowsOrigin(request.headers.origin)) {
      throw new ProblemError('origin_not_allowed', 'This origin is not allowed; add its host to WARREN_ALLOWED_HOSTS.');
    }
    if (OPEN_PATHS.has(path) || OPEN_PREFIXES.some((prefix) => path.startsWith(prefix))) return;
    const token = bearerToken(request.headers.authorization);
    const principal = token === undefined ? undefined : await this.credentials.authenticate(token);
    if (principal === undefined) throw unauthenticated();
    request.principal = { ...principal, redactor: this.tokens.redactorOf(token ?? '') };
  }
}

function bearerToken(header: string | undefined): string | undefined {
  return header === undefined ? undefined : /^Bearer +([^\s]{1,200}) *$/i.exec(header)?.[1];
}
