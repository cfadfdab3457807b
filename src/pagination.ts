import { IntegerField, TextField } from './field.decorators.js';
import { ProblemError } from './errors.js';
import { isTime } from './time.js';

export const DEFAULT_PAGE_SIZE = 50;
export const MAX_PAGE_SIZE = 200;

/** Query of every list route. */
export class PageQuery {
  @IntegerField({
    optional: true,
    min: 1,
    max: MAX_PAGE_SIZE,
    default: DEFAULT_PAGE_SIZE,
    coerce: true,
    description: 'Most items to answer',
  })
  limit?: number;

  @TextField({ optional: true, max: 2_000, description: '`nextCursor` of the page before' })
  cursor?: string;
}

export interface Page<T> {
  items: T[];
  nextCursor: string | null;
}

/** Where a page continues: the sort key of the last item of the page before. */
export type CursorPosition = readonly (string | number)[];

/** An opaque cursor for a position. */
export function encodeCursor(position: CursorPosition): string {
  return Buffer.from(JSON.stringify(position)).toString('base64url');
}

type PartKind = 'string' | 'number' | 'time';

/**
 * Reads a cursor made by `encodeCursor`; `kinds` names the kind of each part, `time` being RFC 3339 text.
 * Errors: `cursor_invalid` for anything else.
 */
export function decodeCursor(cursor: string, kinds: readonly PartKind[]): CursorPosition {
  let position: unknown;
  try {
    position = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    position = undefined;
  }
  if (
    !Array.isArray(position) ||
    position.length !== kinds.length ||
    !kinds.every((kind, at) => isPart(position[at], kind))
  ) {
    throw new ProblemError('cursor_invalid', 'cursor must be the nextCursor of an earlier page of the same list.', {
      errors: [{ path: 'cursor', message: 'must be the nextCursor of an earlier page' }],
    });
  }
  return position as CursorPosition;
}

function isPart(part: unknown, kind: PartKind): boolean {
  if (kind === 'number') return typeof part === 'number' && Number.isFinite(part);
  // PostgreSQL takes no NUL in text
  if (typeof part !== 'string' || part.includes('\0')) return false;
  return kind === 'string' || isTime(part);
}

/**
 * Makes a page from up to `limit + 1` rows: the extra row only says that there is more.
 */
export function pageOf<Row, Item>(
  rows: readonly Row[],
  limit: number,
  toItem: (row: Row) => Item,
  positionOf: (row: Row) => CursorPosition,
): Page<Item> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return {
    items: shown.map(toItem),
    nextCursor: rows.length > limit && last !== undefined ? encodeCursor(positionOf(last)) : null,
  };
}
