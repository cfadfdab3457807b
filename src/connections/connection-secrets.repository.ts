import { Injectable } from '@nestjs/common';
import { sql } from 'kysely';
import { jsonArrayFrom } from 'kysely/helpers/postgres';
import { Database, type DatabaseTransaction } from '../database.js';
import type { SecretKind } from '../database.schema.js';
import { toRecord } from './connection.row.js';
import type { ConnectionRecord, SecretMark } from './connection.record.js';

export interface SealedSecret extends SecretMark {
  sealed: Buffer;
}

export interface SealedRow extends SealedSecret {
  keyId: string;
}

/** The sealed secrets of connections. */
@Injectable()
export class ConnectionSecretsRepository {
  constructor(private readonly database: Database) {}

  /** A connection with its sealed secrets, of one moment. */
  async findWithSecrets(id: string): Promise<{ record: ConnectionRecord; secrets: SealedSecret[] } | undefined> {
    const row = await this.database.kysely
      .selectFrom('connections')
      .innerJoin('providers', 'providers.id', 'connections.id')
      .selectAll('connections')
      .select(['providers.name', 'providers.transport', 'providers.enabled', 'providers.created_at'])
      .select((select) =>
        jsonArrayFrom(
          select
            .selectFrom('connection_secrets')
            .select([
              'connection_secrets.kind',
              'connection_secrets.name',
              'connection_secrets.position',
              'connection_secrets.flags',
            ])
            .select(sql<string>`encode(sealed, 'base64')`.as('sealed'))
            .whereRef('connection_secrets.connection_id', '=', 'connections.id')
            .orderBy('connection_secrets.kind')
            .orderBy('connection_secrets.position'),
        ).as('secrets'),
      )
      .where('connections.id', '=', id)
      .executeTakeFirst();
    if (row === undefined) return undefined;
    const secrets = row.secrets.map(({ sealed, flags, ...mark }) => ({
      ...mark,
      flags: flags as SecretMark['flags'],
      sealed: Buffer.from(sealed, 'base64'),
    }));
    return { record: toRecord(row), secrets };
  }

  async remove(
    transaction: DatabaseTransaction,
    connectionId: string,
    secrets: readonly { kind: SecretKind; name: string }[],
  ): Promise<void> {
    for (const [kind, names] of namesByKind(secrets)) {
      await transaction
        .deleteFrom('connection_secrets')
        .where('connection_id', '=', connectionId)
        .where('kind', '=', kind)
        .where('name', 'in', names)
        .execute();
    }
  }

  /** Inserts or overwrites. */
  async save(transaction: DatabaseTransaction, connectionId: string, rows: readonly SealedRow[]): Promise<void> {
    if (rows.length === 0) return;
    await transaction
      .insertInto('connection_secrets')
      .values(
        rows.map(({ kind, name, position, flags, sealed, keyId }) => ({
          connection_id: connectionId,
          kind,
          name,
          position,
          flags,
          sealed,
          key_id: keyId,
        })),
      )
      .onConflict((conflict) =>
        conflict.columns(['connection_id', 'kind', 'name']).doUpdateSet((update) => ({
          position: update.ref('excluded.position'),
          flags: update.ref('excluded.flags'),
          sealed: update.ref('excluded.sealed'),
          key_id: update.ref('excluded.key_id'),
        })),
      )
      .execute();
  }

  /** Moves stored secrets to other places of their lists; what is sealed is not touched. */
  async move(
    transaction: DatabaseTransaction,
    connectionId: string,
    secrets: readonly { kind: SecretKind; name: string; position: number }[],
  ): Promise<void> {
    if (secrets.length === 0) return;
    const kinds = secrets.map(({ kind }) => kind);
    const names = secrets.map(({ name }) => name);
    const positions = secrets.map(({ position }) => position);
    await sql`
      update connection_secrets as secret set position = place.position
      from unnest(${kinds}::text[], ${names}::text[], ${positions}::integer[]) as place (kind, name, position)
      where secret.connection_id = ${connectionId} and secret.kind = place.kind and secret.name = place.name
        and secret.position <> place.position
    `.execute(transaction);
  }
}

function namesByKind(secrets: readonly { kind: SecretKind; name: string }[]): Map<SecretKind, string[]> {
  const names = new Map<SecretKind, string[]>();
  for (const { kind, name } of secrets) names.set(kind, [...(names.get(kind) ?? []), name]);
  return names;
}
