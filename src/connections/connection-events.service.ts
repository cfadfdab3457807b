import { Injectable } from '@nestjs/common';
import { Database } from '../database.js';
import { invalidCursor } from './invalid-cursor.js';
import { decodeCursor, DEFAULT_PAGE_SIZE, type Page, pageOf, type PageQuery } from '../pagination.js';
import type { ConnectionEventAnswer } from './connection-events.dto.js';
import { type ConnectionEventRow, ConnectionEventsRepository } from './connection-events.repository.js';

/** Most events kept, of all connections together. */
export const MAX_CONNECTION_EVENTS = 200;

/** Status and reason are words of ours, never a provider's text. */
const STABLE_WORD = /^[a-z][a-z0-9_]{0,63}$/;

/** Keeps the transitions of connections, sanitised and bounded. */
@Injectable()
export class ConnectionEvents {
  constructor(
    private readonly repository: ConnectionEventsRepository,
    private readonly database: Database,
  ) {}

  /**
   * Stores one transition; does nothing when the connection is gone. When more than 200 are stored in all, the
   * connection with the most loses its oldest. A reason that is no stable word is stored as `unknown`.
   */
  async record(connectionId: string, status: string, reason?: string): Promise<void> {
    const event = {
      connectionId,
      status: stableWord(status),
      reason: reason === undefined ? null : stableWord(reason),
    };
    await this.database.transaction(async (transaction) => {
      await this.repository.lockEvents(transaction);
      await this.repository.insert(transaction, event);
      const surplus = (await this.repository.count(transaction)) - MAX_CONNECTION_EVENTS;
      for (let deleted = 0; deleted < surplus; deleted += 1) await this.repository.deleteOldestOfFullest(transaction);
    });
  }

  /** Newest first. */
  async list(connectionId: string, query: PageQuery): Promise<Page<ConnectionEventAnswer>> {
    const limit = query.limit ?? DEFAULT_PAGE_SIZE;
    const before = query.cursor === undefined ? undefined : Number(decodeCursor(query.cursor, ['number'])[0]);
    if (before !== undefined && !Number.isSafeInteger(before)) throw invalidCursor();
    const rows = await this.repository.list(connectionId, limit + 1, before);
    return pageOf(rows, limit, presentEvent, (row) => [row.id]);
  }
}

function stableWord(word: string): string {
  return STABLE_WORD.test(word) ? word : 'unknown';
}

function presentEvent({ id, at, status, reason, imported }: ConnectionEventRow): ConnectionEventAnswer {
  return { id, at: at.toISOString(), status, ...(reason === null ? {} : { reason }), imported };
}
