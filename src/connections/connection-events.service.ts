import { Injectable } from '@nestjs/common';
import { Database, type DatabaseTransaction } from '../database.js';
import { invalidCursor } from './invalid-cursor.js';
import { decodeCursor, DEFAULT_PAGE_SIZE, type Page, pageOf, type PageQuery } from '../pagination.js';
import type { ConnectionEventAnswer } from './connection-events.dto.js';
import { type ConnectionEventRow, ConnectionEventsRepository } from './connection-events.repository.js';
import { newestOfEach, stableWord, type PastEvent } from './past-events.js';

/** Most events kept, of all connections together. */
export const MAX_CONNECTION_EVENTS = 200;

/** What became of events that were taken over. */
export interface ImportCounts {
  /** Stored. */
  imported: number;
  /** No room among the events kept. */
  surplus: number;
  /** Of no connection. */
  skipped: number;
}

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
      await this.repository.trim(transaction, MAX_CONNECTION_EVENTS);
    });
  }

  /** Stores events of another time, marked as imported, within the same bound; part of the caller's transaction. */
  async takeOver(transaction: DatabaseTransaction, events: readonly PastEvent[]): Promise<ImportCounts> {
    await this.repository.lockEvents(transaction);
    const known = await this.repository.holdConnections(transaction);
    const ours = events.filter(({ connectionId }) => known.has(connectionId));
    // more of one connection could not stay, whatever the others have
    const candidates = newestOfEach(ours, MAX_CONNECTION_EVENTS);
    const stored = await this.repository.insertImported(transaction, candidates);
    const trimmed = new Set(await this.repository.trim(transaction, MAX_CONNECTION_EVENTS));
    const imported = stored.filter((id) => !trimmed.has(id)).length;
    return { imported, surplus: ours.length - imported, skipped: events.length - ours.length };
  }

  /** Newest first. */
  async list(connectionId: string, query: PageQuery): Promise<Page<ConnectionEventAnswer>> {
    const limit = query.limit ?? DEFAULT_PAGE_SIZE;
    const rows = await this.repository.list(connectionId, limit + 1, positionOf(query.cursor));
    return pageOf(rows, limit, presentEvent, (row) => [row.at.toISOString(), row.id]);
  }
}

function positionOf(cursor: string | undefined): { at: string; id: number } | undefined {
  if (cursor === undefined) return undefined;
  const [at, id] = decodeCursor(cursor, ['time', 'number']);
  if (!Number.isSafeInteger(id)) throw invalidCursor();
  return { at: String(at), id: Number(id) };
}

function presentEvent({ id, at, status, reason, imported }: ConnectionEventRow): ConnectionEventAnswer {
  return { id, at: at.toISOString(), status, ...(reason === null ? {} : { reason }), imported };
}
