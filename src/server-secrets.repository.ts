import { Injectable } from '@nestjs/common';
import { sql } from 'kysely';
import { Database } from './database.js';

/** Warren's own sealed secrets, by name. */
@Injectable()
export class ServerSecretsRepository {
  constructor(private readonly database: Database) {}

  async find(name: string): Promise<Buffer | undefined> {
    const row = await this.database.kysely
      .selectFrom('server_secrets')
      .select('sealed')
      .where('name', '=', name)
      .executeTakeFirst();
    return row?.sealed;
  }

  /** The same, also where the schema is older than this table. */
  async findInAnySchema(name: string): Promise<Buffer | undefined> {
    const { rows } = await sql<{ known: boolean }>`
      select to_regclass('server_secrets') is not null as known`.execute(this.database.kysely);
    return rows[0]?.known === true ? this.find(name) : undefined;
  }

  /** Keeps the row that is there, if another process was first. */
  async insertIfAbsent(name: string, sealed: Buffer, keyId: string): Promise<void> {
    await this.database.kysely
      .insertInto('server_secrets')
      .values({ name, sealed, key_id: keyId })
      .onConflict((conflict) => conflict.column('name').doNothing())
      .execute();
  }
}
