import { Injectable } from '@nestjs/common';
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

  /** Keeps the row that is there, if another process was first. */
  async insertIfAbsent(name: string, sealed: Buffer, keyId: string): Promise<void> {
    await this.database.kysely
      .insertInto('server_secrets')
      .values({ name, sealed, key_id: keyId })
      .onConflict((conflict) => conflict.column('name').doNothing())
      .execute();
  }
}
