import { Injectable } from '@nestjs/common';
import { Database } from './database.js';

/** The agents that tokens of an authorization server may name. */
@Injectable()
export class OauthRepository {
  constructor(private readonly database: Database) {}

  async isEnabledAgent(id: string): Promise<boolean> {
    const row = await this.database.kysely
      .selectFrom('agents')
      .select('enabled')
      .where('id', '=', id)
      .executeTakeFirst();
    return row?.enabled === true;
  }
}
