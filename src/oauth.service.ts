import { Inject, Injectable } from '@nestjs/common';
import { createHash } from 'node:crypto';
import { jwtVerify, type JWTPayload } from 'jose';
import type { Settings } from './config.js';
import { ProblemError } from './errors.js';
import { Logger } from './logger.js';
import { isPlausibleJwt } from './oauth.jwt.js';
import { OauthKeySource } from './oauth.key-source.js';
import { OauthKeys } from './oauth.keys.js';
import { OauthRepository } from './oauth.repository.js';
import { type OauthSettings, oauthSettings } from './oauth.settings.js';
import type { AgentPrincipal } from './principal.js';
import { SafeFetch } from './safe-fetch.js';
import { SETTINGS } from './settings.token.js';

/** How far the clocks of the authorization server and of this machine may differ, seconds. */
const LEEWAY_SECONDS = 5;
/** No agent has another id; PostgreSQL takes no NUL. */
const AGENT_ID = /^[A-Za-z0-9._-]{1,96}$/;
/** The end of time as JavaScript counts it, seconds since 1970. */
const LAST_SECOND = 8_640_000_000_000;

/** Tokens of an authorization server, checked here: each stands for an agent that Warren knows. */
@Injectable()
export class OauthService {
  /** Undefined: only Warren's own tokens open anything. */
  readonly settings: OauthSettings | undefined;
  private readonly keys: OauthKeys | undefined;

  constructor(
    @Inject(SETTINGS) settings: Settings,
    safeFetch: SafeFetch,
    private readonly agents: OauthRepository,
    logger: Logger,
  ) {
    this.settings = oauthSettings(settings);
    if (this.settings === undefined) return;
    const source = new OauthKeySource(safeFetch.fetch, this.settings);
    this.keys = new OauthKeys(
      () => source.read(),
      (error) => logger.warn({ error }, 'the keys of the authorization server could not be read'),
    );
  }

  /**
   * The agent a token stands for; undefined for every token that is not right, alike.
   * Errors: `authorization_server_unavailable` when there are no keys to check it with.
   */
  async authenticate(token: string): Promise<AgentPrincipal | undefined> {
    const claims = await this.verified(token);
    if (claims === undefined || this.settings === undefined) return undefined;
    const { exp } = claims;
    const agentId = Object.hasOwn(claims, this.settings.agentClaim) ? claims[this.settings.agentClaim] : undefined;
    if (exp === undefined || exp > LAST_SECOND - LEEWAY_SECONDS) return undefined;
    if (typeof agentId !== 'string' || !AGENT_ID.test(agentId)) return undefined;
    if (!(await this.agents.isEnabledAgent(agentId))) return undefined;
    const expiresAt = new Date((exp + LEEWAY_SECONDS) * 1_000);
    return { kind: 'agent', credentialId: credentialIdOf(token), agentId, expiresAt };
  }

  private async verified(token: string): Promise<JWTPayload | undefined> {
    const { settings, keys } = this;
    if (settings === undefined || keys === undefined || !isPlausibleJwt(token, settings.algorithms)) return undefined;
    try {
      const { payload } = await jwtVerify(token, keys.keyOf, {
        algorithms: [...settings.algorithms],
        issuer: settings.issuer,
        audience: settings.audience,
        clockTolerance: LEEWAY_SECONDS,
        requiredClaims: ['exp'],
      });
      return payload;
    } catch (error) {
      if (error instanceof ProblemError) throw error;
      // a key that cannot be used is told by the runtime's own errors, and its token is as wrong as any other
      return undefined;
    }
  }
}

/** Names a token in receipts; nothing of it can be had back from that. */
function credentialIdOf(token: string): string {
  return `jwt_${createHash('sha256').update(token).digest('base64url').slice(0, 22)}`;
}
