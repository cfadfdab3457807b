import { Injectable } from '@nestjs/common';
import { sql } from 'kysely';
import { createHash } from 'node:crypto';
import { Database, type DatabaseTransaction } from '../database.js';
import type { ImportCounts } from './connection-events.service.js';

/** Longest wait for another process that imports the same file at this moment. */
const CLAIM_TIMEOUT = '10s';

export interface NewLegacyImport {
  sourcePath: string;
  textHash: Buffer;
  textBytes: number;
  sealed: Buffer;
  keyId: string;
}

/** Receipts of imported event files, one for each source path. */
@Injectable()
export class LegacyImportsRepository {
  constructor(private readonly database: Database) {}

  async isImported(sourcePath: string): Promise<boolean> {
    const row = await this.database.kysely
      .selectFrom('legacy_event_imports')
      .select('source_path')
      .where('source_hash', '=', hashOf(sourcePath))
      .executeTakeFirst();
    return row !== undefined;
  }

  /** Makes the receipt; false when another process has. Waits for one that is just making it. */
  async claim(transaction: DatabaseTransaction, receipt: NewLegacyImport): Promise<boolean> {
    await sql`select set_config('lock_timeout', ${CLAIM_TIMEOUT}, true)`.execute(transaction);
    const { numInsertedOrUpdatedRows } = await transaction
      .insertInto('legacy_event_imports')
      .values({
        source_hash: hashOf(receipt.sourcePath),
        source_path: receipt.sourcePath,
        text_hash: receipt.textHash,
        text_bytes: receipt.textBytes,
        sealed: receipt.sealed,
        key_id: receipt.keyId,
      })
      .onConflict((conflict) => conflict.column('source_hash').doNothing())
      .executeTakeFirstOrThrow();
    return numInsertedOrUpdatedRows === 1n;
  }

  async complete(
    transaction: DatabaseTransaction,
    sourcePath: string,
    counts: ImportCounts & { malformed: number },
  ): Promise<void> {
    await transaction
      .updateTable('legacy_event_imports')
      .set(counts)
      .where('source_hash', '=', hashOf(sourcePath))
      .execute();
  }
}

function hashOf(sourcePath: string): Buffer {
  return createHash('sha256').update(sourcePath).digest();
}
