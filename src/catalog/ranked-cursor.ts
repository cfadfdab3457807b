import { sha256Hex } from '../canonical-json.js';
import { ProblemError } from '../errors.js';
import { decodeCursor, encodeCursor } from '../pagination.js';

/**
 * Pages of a ranked list continue at an offset, bound to the question: the cursor of one question is refused for
 * another. A catalog or a set of grants that changes between two pages may shift the items.
 */
export class RankedCursor {
  private readonly fingerprint: string;

  /** `question` is everything that decides the list, apart from the page size. */
  constructor(question: readonly (string | null)[]) {
    this.fingerprint = sha256Hex(JSON.stringify(question)).slice(0, 16);
  }

  /** Where the page starts. Errors: `cursor_invalid`. */
  offset(cursor: string | undefined): number {
    if (cursor === undefined) return 0;
    const [offset, fingerprint] = decodeCursor(cursor, ['number', 'string']);
    if (fingerprint !== this.fingerprint || !Number.isSafeInteger(offset) || Number(offset) < 1) {
      const message = 'must be the nextCursor of an earlier page of the same question';
      throw new ProblemError('cursor_invalid', `cursor ${message}.`, { errors: [{ path: 'cursor', message }] });
    }
    return Number(offset);
  }

  /** The cursor of the page that starts at `offset`; null when the list ends before. */
  next(offset: number, total: number): string | null {
    return offset < total ? encodeCursor([offset, this.fingerprint]) : null;
  }
}
