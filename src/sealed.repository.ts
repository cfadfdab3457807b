import { Injectable } from '@nestjs/common';
import { sql } from 'kysely';
import { Database, type DatabaseTransaction } from './database.js';
import type { SealedTable } from './sealed-tables.js';

export type StoredSeal = Record<string, unknown> & { sealed: Buffer };

/** How many secrets of one table are sealed under one key. */
export interface SealCount {
  table: SealedTable['name'];
  keyId: string;
  count: number;
}

/** A process that counts as alive was seen within this time, seconds; it says so every 5. */
const ALIVE_SECONDS = 20;

/** Rows that tell whether a key is the right one. */
const SAMPLE = 5;

/** Sealed values of whatever table, for those who re-seal or count them all. */
@Injectable()
export class SealedRepository {
  constructor(private readonly database: Database) {}

  /** By table and key. Tables that an older schema lacks hold nothing. */
  async count(tables: readonly SealedTable[]): Promise<SealCount[]> {
    const counts: SealCount[] = [];
    for (const { name } of tables) {
      const known = await sql<{ known: boolean }>`select to_regclass(${name}) is not null as known`.execute(
        this.database.kysely,
      );
      if (known.rows[0]?.known !== true) continue;
      const { rows } = await sql<{ key_id: string; count: number }>`
        select key_id, count(*)::integer as count from ${sql.table(name)} group by key_id order by key_id`.execute(
        this.database.kysely,
      );
      counts.push(...rows.map(({ key_id: keyId, count }) => ({ table: name, keyId, count })));
    }
    return counts;
  }

  /** A few rows sealed under this key, the smallest. */
  async someOf(table: SealedTable, keyId: string): Promise<StoredSeal[]> {
    const { rows } = await sql<StoredSeal>`
      select ${columnsOf(table)} from ${sql.table(table.name)} where key_id = ${keyId}
      order by octet_length(sealed) limit ${SAMPLE}`.execute(this.database.kysely);
    return rows;
  }

  /** Rows sealed under another key, kept for this transaction; those that others hold are left for later. */
  async takeOthers(
    transaction: DatabaseTransaction,
    { name, keys, context, batch }: SealedTable,
    keyId: string,
  ): Promise<StoredSeal[]> {
    const { rows } = await sql<StoredSeal>`
      select ${columnsOf({ keys, context })} from ${sql.table(name)} where key_id <> ${keyId}
      order by ${sql.join(keys.map((key) => sql.ref(key)))} limit ${batch} for update skip locked`.execute(transaction);
    return rows;
  }

  /** Puts a new seal in the place of exactly this one; false when it is no longer there. */
  async replace(
    transaction: DatabaseTransaction,
    { name, keys }: SealedTable,
    row: StoredSeal,
    sealed: Buffer,
    keyId: string,
  ): Promise<boolean> {
    const isThis = keys.map((key) => sql`${sql.ref(key)} = ${row[key]}`);
    const { numAffectedRows } = await sql`
      update ${sql.table(name)} set sealed = ${sealed}, key_id = ${keyId}
      where ${sql.join([...isThis, sql`sealed = ${row.sealed}`], sql` and `)}`.execute(transaction);
    return numAffectedRows === 1n;
  }

  /** The marks of the keys of each process that lives, its current one first. */
  async liveKeyrings(): Promise<string[][]> {
    const { rows } = await sql<{ key_ids: string[] }>`
      select key_ids from instances where seen_at > now() - make_interval(secs => ${ALIVE_SECONDS})`.execute(
      this.database.kysely,
    );
    return rows.map(({ key_ids: marks }) => marks);
  }
}

function columnsOf({ keys, context }: Pick<SealedTable, 'keys' | 'context'>) {
  return sql.join([...new Set([...keys, ...context, 'sealed'])].map((column) => sql.ref(column)));
}
