import { Injectable } from '@nestjs/common';
import { isDeepStrictEqual } from 'node:util';
import type { AuditedChange } from './audit.entry.js';
import { AuditLog } from './audit.service.js';
import type { Author } from './author.js';
import { Changes } from './changes.js';
import { CredentialsRepository, type CredentialRow } from './credentials.repository.js';
import { Database, type DatabaseTransaction } from './database.js';
import { invalidField, ProblemError } from './errors.js';
import { decodeCursor, DEFAULT_PAGE_SIZE, pageOf, type Page, type PageQuery } from './pagination.js';
import type { OperatorScope, Principal } from './principal.js';
import { ServerSecrets } from './server-secrets.service.js';
import { isTime } from './time.js';
import { createToken, equalHash, hashToken, parseToken } from './token.js';

export const MAX_TOKENS_PER_AGENT = 100;
const ENVIRONMENT: Author = { kind: 'environment' };

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
    private readonly audit: AuditLog,
  ) {}

  issueOperatorKey(
    author: Author,
    name: string,
    scopes: readonly OperatorScope[],
    expiresAt?: string | null,
  ): Promise<IssuedCredential> {
    return this.issue(author, { kind: 'operator', agentId: null, name, scopes: [...scopes], expiresAt });
  }

  /** Errors: `limit_reached` beyond 100 tokens of one agent; of PostgreSQL when there is no such agent. */
  issueAgentToken(
    author: Author,
    agentId: string,
    name?: string | null,
    expiresAt?: string | null,
  ): Promise<IssuedCredential> {
    return this.issue(author, { kind: 'agent', agentId, name: name ?? null, scopes: [], expiresAt });
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
      const gone: AuditedChange[] = [];
      for (const id of others) {
        const row = await this.repository.delete(transaction, id, null);
        if (row !== undefined) gone.push(revoked(row));
      }
      await this.audit.record(transaction, ENVIRONMENT, ...gone);
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
  async revoke(author: Author, id: string, agentId: string | null): Promise<void> {
    await this.database.revocation({ credentials: [id] }, async (transaction) => {
      const row = await this.repository.delete(transaction, id, agentId);
      if (row === undefined) {
        throw agentId === null
          ? new ProblemError('key_not_found', 'There is no operator key of this id.')
          : new ProblemError('token_not_found', 'This agent has no token of this id.');
      }
      await this.audit.record(transaction, author, revoked(row));
    });
    await this.changes.announce();
  }

  private async saveAdminKey(token: string): Promise<string> {
    const parsed = parseToken(token);
    if (parsed?.kind !== 'operator') {
      throw new Error('WARREN_ADMIN_KEY must be a well-formed wop_ key (make one with `warren keys create`)');
    }
    const tokenHash = hashToken(token, await this.serverSecrets.tokenHmacKey());
    const known = await this.repository.find(parsed.id);
    await this.database.transaction(async (transaction) => {
      const row = await this.repository.upsertOperator(transaction, {
        id: parsed.id,
        kind: 'operator',
        agentId: null,
        name: 'WARREN_ADMIN_KEY',
        scopes: ['admin'],
        tokenHash,
        expiresAt: null,
      });
      const before = known === undefined ? null : described(known);
      // a key made otherwise may have had fewer scopes
      if (before === null || !isDeepStrictEqual(before, described(row))) {
        await this.audit.record(transaction, ENVIRONMENT, { ...issued(row), before });
      }
    });
    return parsed.id;
  }

  private async issue(
    author: Author,
    request: {
      kind: 'operator' | 'agent';
      agentId: string | null;
      name: string | null;
      scopes: string[];
      expiresAt: string | null | undefined;
    },
  ): Promise<IssuedCredential> {
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
    return this.database.transaction(async (transaction) => {
      await this.refuseTooMany(transaction, request.agentId);
      const row = await this.repository.insert(transaction, { ...request, id, tokenHash, expiresAt });
      await this.audit.record(transaction, author, issued(row));
      return { row, token };
    });
  }

  private async refuseTooMany(transaction: DatabaseTransaction, agentId: string | null): Promise<void> {
    if (agentId === null || (await this.repository.countTokens(transaction, agentId)) < MAX_TOKENS_PER_AGENT) return;
    throw new ProblemError(
      'limit_reached',
      `An agent has at most ${MAX_TOKENS_PER_AGENT} tokens; revoke one that is not used any more.`,
    );
  }
}

function issued(row: CredentialRow): AuditedChange {
  const action = row.kind === 'agent' ? 'token.create' : 'key.create';
  return { action, target: targetOf(row), after: described(row) };
}

function revoked(row: CredentialRow): AuditedChange {
  const action = row.kind === 'agent' ? 'token.revoke' : 'key.revoke';
  return { action, target: targetOf(row), before: described(row) };
}

function targetOf({ id, kind }: CredentialRow): AuditedChange['target'] {
  return { kind: kind === 'agent' ? 'token' : 'key', id };
}

function described({ agent_id: agentId, name, scopes, expires_at: expiresAt }: CredentialRow): Record<string, unknown> {
  const common = { name, expiresAt: expiresAt?.toISOString() ?? null };
  return agentId === null ? { ...common, scopes } : { ...common, agentId };
}
