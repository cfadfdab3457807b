import { Injectable } from '@nestjs/common';
import type { Selectable } from 'kysely';
import { Database, type DatabaseTransaction } from './database.js';
import type { CredentialsTable } from './database.schema.js';
import type { CursorPosition } from './pagination.js';

export type CredentialRow = Selectable<CredentialsTable>;

export interface NewCredential {
  id: string;
  kind: 'operator' | 'agent';
  agentId: string | null;
  name: string | null;
  scopes: string[];
  tokenHash: Buffer;
  expiresAt: Date | null;
}

/** Operator keys and agent tokens, by public id. */
@Injectable()
export class CredentialsRepository {
  constructor(private readonly database: Database) {}

  async insert(transaction: DatabaseTransaction, credential: NewCredential): Promise<CredentialRow> {
    return transaction
      .insertInto('credentials')
      .values({
        id: credential.id,
        kind: credential.kind,
        agent_id: credential.agentId,
        name: credential.name,
        scopes: credential.scopes,
        token_hash: credential.tokenHash,
        expires_at: credential.expiresAt,
      })
      .returningAll()
      .executeTakeFirstOrThrow();
  }

  /** The key from the environment: written at each start, so that its hash follows the HMAC key. */
  async upsertOperator(transaction: DatabaseTransaction, credential: NewCredential): Promise<CredentialRow> {
    const { name, scopes, tokenHash } = credential;
    const source = 'environment';
    return transaction
      .insertInto('credentials')
      .values({
        id: credential.id,
        kind: 'operator',
        agent_id: null,
        name,
        scopes,
        source,
        token_hash: tokenHash,
        expires_at: null,
      })
      .onConflict((conflict) =>
        conflict.column('id').doUpdateSet({ name, scopes, source, token_hash: tokenHash, expires_at: null }),
      )
      .returningAll()
      .executeTakeFirstOrThrow();
  }

  /** Ids of the keys that came from the environment at this or an earlier start, but for one. */
  async otherEnvironmentKeys(id: string | undefined): Promise<string[]> {
    const rows = await this.database.kysely
      .selectFrom('credentials')
      .select('id')
      .where('source', '=', 'environment')
      .where('id', '!=', id ?? '')
      .execute();
    return rows.map((row) => row.id);
  }

  /** The credential and whether its agent, if it has one, is enabled. */
  async findForAuthentication(id: string): Promise<(CredentialRow & { agent_enabled: boolean | null }) | undefined> {
    return this.database.kysely
      .selectFrom('credentials')
      .leftJoin('agents', 'agents.id', 'credentials.agent_id')
      .selectAll('credentials')
      .select('agents.enabled as agent_enabled')
      .where('credentials.id', '=', id)
      .executeTakeFirst();
  }

  /** Newest first. `agentId` null lists operator keys. */
  async list(agentId: string | null, limit: number, after: CursorPosition | undefined): Promise<CredentialRow[]> {
    let query = this.database.kysely
      .selectFrom('credentials')
      .selectAll()
      .where('agent_id', agentId === null ? 'is' : '=', agentId);
    if (after !== undefined) {
      const [createdAt, id] = [new Date(String(after[0])), String(after[1])];
      query = query.where((where) =>
        where.or([
          where('created_at', '<', createdAt),
          where.and([where('created_at', '=', createdAt), where('id', '<', id)]),
        ]),
      );
    }
    return query.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(limit).execute();
  }

  find(id: string): Promise<CredentialRow | undefined> {
    return this.database.kysely.selectFrom('credentials').selectAll().where('id', '=', id).executeTakeFirst();
  }

  /** How many tokens an agent has; keeps others from adding one until the transaction ends. */
  async countTokens(transaction: DatabaseTransaction, agentId: string): Promise<number> {
    await transaction.selectFrom('agents').select('id').where('id', '=', agentId).forNoKeyUpdate().execute();
    const { count } = await transaction
      .selectFrom('credentials')
      .select((select) => select.fn.countAll<string>().as('count'))
      .where('agent_id', '=', agentId)
      .executeTakeFirstOrThrow();
    return Number(count);
  }

  /** Undefined when there was none. `agentId` null is for an operator key. */
  delete(transaction: DatabaseTransaction, id: string, agentId: string | null): Promise<CredentialRow | undefined> {
    return transaction
      .deleteFrom('credentials')
      .where('id', '=', id)
      .where('agent_id', agentId === null ? 'is' : '=', agentId)
      .returningAll()
      .executeTakeFirst();
  }
}
