import { Injectable } from '@nestjs/common';
import { Changes } from './changes.js';
import { CredentialsRepository, type CredentialRow } from './credentials.repository.js';
import { Database } from './database.js';
import { invalidField, ProblemError } from './errors.js';
import { decodeCursor, DEFAULT_PAGE_SIZE, pageOf, type Page, type PageQuery } from './pagination.js';
import type { OperatorScope, Principal } from './principal.js';
import { ServerSecrets } from './server-secrets.service.js';
import { isTime } from './time.js';
import { createToken, equalHash, hashToken, parseToken } from './token.js';

export interface IssuedCredential {
  row: CredentialRow;
  /** The only time the token is seen. */
  token: string;
}

/** Issues, checks, lists and revokes operator keys and agent tokens. */
@Injectable()
export class CredentialsService {
  constructor(
    private readonly repository: CredentialsRepository,
    private readonly serverSecrets: ServerSecrets,
    private readonly database: Database,
    private readonly changes: Changes,
  ) {}

  issueOperatorKey(
    name: string,
    scopes: readonly OperatorScope[],
    expiresAt?: string | null,
  ): Promise<IssuedCredential> {
    return this.issue({ kind: 'operator', agentId: null, name, scopes: [...scopes], expiresAt });
  }

  issueAgentToken(agentId: string, name?: string | null, expiresAt?: string | null): Promise<IssuedCredential> {
    return this.issue({ kind: 'agent', agentId, name: name ?? null, scopes: [], expiresAt });
  }

  /**
   * Saves the operator key of the environment with scope `admin`, and revokes those that earlier starts found there: a
   * key that the environment names no longer works no longer. Resolves to how many those were.
   * Errors: a plain Error when it is not a well-formed `wop_` key; never shows it.
   */
  async adoptAdminKey(token: string | undefined): Promise<number> {
    const adopted = token === undefined ? undefined : await this.saveAdminKey(token);
    const others = await this.repository.otherEnvironmentKeys(adopted);
    if (others.length === 0) return 0;
    await this.database.revocation({ credentials: others }, async (transaction) => {
      for (const id of others) await this.repository.delete(transaction, id);
    });
    await this.changes.announce();
    return others.length;
  }

  /** Who a bearer token belongs to, or undefined for every kind of bad token alike. */
  async authenticate(token: string): Promise<Principal | undefined> {
    const parsed = parseToken(token);
    if (parsed === undefined) return undefined;
    const hash = hashToken(token, await this.serverSecrets.tokenHmacKey());
    const row = await this.repository.findForAuthentication(parsed.id);
    if (row === undefined || row.kind !== parsed.kind || !equalHash(hash, row.token_hash)) return undefined;
    if (row.expires_at !== null && row.expires_at.getTime() <= Date.now()) return undefined;
    if (row.kind === 'operator') {
      return { kind: 'operator', credentialId: row.id, name: row.name, scopes: row.scopes as OperatorScope[] };
    }
    if (row.agent_id === null || row.agent_enabled !== true) return undefined;
    return { kind: 'agent', credentialId: row.id, agentId: row.agent_id };
  }

  /** `agentId` null lists operator keys. */
  async list<Item>(
    agentId: string | null,
    query: PageQuery,
    toItem: (row: CredentialRow) => Item,
  ): Promise<Page<Item>> {
    const limit = query.limit ?? DEFAULT_PAGE_SIZE;
    const after = query.cursor === undefined ? undefined : decodeCursor(query.cursor, ['time', 'string']);
    const rows = await this.repository.list(agentId, limit + 1, after);
    return pageOf(rows, limit, toItem, (row) => [row.created_at.toISOString(), row.id]);
  }

  /**
   * Revokes at once: when this resolves, no call of this credential begins any more.
   * Errors: `key_not_found` or `token_not_found`.
   */
  async revoke(id: string, agentId: string | null): Promise<void> {
    if (!(await this.repository.exists(id, agentId))) {
      throw agentId === null
        ? new ProblemError('key_not_found', 'There is no operator key of this id.')
        : new ProblemError('token_not_found', 'This agent has no token of this id.');
    }
    await this.database.revocation({ credentials: [id] }, (transaction) => this.repository.delete(transaction, id));
    await this.changes.announce();
  }

  private async saveAdminKey(token: string): Promise<string> {
    const parsed = parseToken(token);
    if (parsed?.kind !== 'operator') {
      throw new Error('WARREN_ADMIN_KEY must be a well-formed wop_ key (make one with `warren keys create`)');
    }
    const tokenHash = hashToken(token, await this.serverSecrets.tokenHmacKey());
    await this.repository.upsertOperator({
      id: parsed.id,
      kind: 'operator',
      agentId: null,
      name: 'WARREN_ADMIN_KEY',
      scopes: ['admin'],
      tokenHash,
      expiresAt: null,
    });
    return parsed.id;
  }

  private async issue(request: {
    kind: 'operator' | 'agent';
    agentId: string | null;
    name: string | null;
    scopes: string[];
    expiresAt: string | null | undefined;
  }): Promise<IssuedCredential> {
    if (typeof request.expiresAt === 'string' && !isTime(request.expiresAt)) {
      throw invalidField('expiresAt', 'must be an RFC 3339 time');
    }
    const expiresAt =
      request.expiresAt === undefined || request.expiresAt === null ? null : new Date(request.expiresAt);
    if (expiresAt !== null && expiresAt.getTime() <= Date.now()) {
      throw invalidField('expiresAt', 'must lie in the future');
    }
    const { token, id } = createToken(request.kind);
    const tokenHash = hashToken(token, await this.serverSecrets.tokenHmacKey());
    const row = await this.repository.insert({ ...request, id, tokenHash, expiresAt });
    return { row, token };
  }
}
