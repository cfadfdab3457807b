import { providerFailureReasons } from '../provider-failure.js';
import { isTime } from '../time.js';
import { LegacyFileError } from './legacy-events.file.js';
import { stableWord, type PastEvent } from './past-events.js';

/** Longest row that is read, characters. */
const MAX_ROW_CHARS = 65_536;
/** Longest provider id, characters: as long as a connection's may be. */
const MAX_ID_CHARS = 96;
/** Most rows of one file; the largest file holds fewer well-formed ones. */
const MAX_ROWS = 500_000;
/** Times outside are no times of events: seconds taken for milliseconds, clocks that were never set. */
const EARLIEST_MS = Date.parse('2000-01-01T00:00:00Z');
const AHEAD_MS = 24 * 60 * 60 * 1_000;

export interface LegacyRows {
  /** In the order of the file. */
  events: PastEvent[];
  /** Rows that are no `{ts, providerId, status, error?}` within the bounds. */
  malformed: number;
}

/**
 * Reads the rows of a legacy event file, one JSON object a line; blank lines are passed over. The last line counts
 * without its end as well: half an object is malformed, a whole one is a row. A status that is no stable word becomes
 * `unknown`, and so does an error that is not one of our reasons: what a provider said is not taken over.
 * Errors: `LegacyFileError` when there are more than 500,000 rows.
 */
export function readLegacyRows(text: string, now: Date): LegacyRows {
  const events: PastEvent[] = [];
  let rows = 0;
  for (const line of linesOf(text)) {
    rows += 1;
    if (rows > MAX_ROWS) throw new LegacyFileError(`holds more than ${MAX_ROWS} rows`);
    const event = readRow(line, now);
    if (event !== undefined) events.push(event);
  }
  return { events, malformed: rows - events.length };
}

/** One by one: a file of line breaks alone would be millions of strings at once. */
function* linesOf(text: string): Generator<string> {
  let start = text.startsWith('\ufeff') ? 1 : 0;
  while (start < text.length) {
    const found = text.indexOf('\n', start);
    const end = found < 0 ? text.length : found;
    const line = text.slice(start, end).trim();
    if (line !== '') yield line;
    start = end + 1;
  }
}

function readRow(line: string, now: Date): PastEvent | undefined {
  const { ts, providerId, status, error } = objectOf(line);
  const at = timeOf(ts, now);
  if (at === undefined || !isWord(providerId) || providerId.length > MAX_ID_CHARS || !isWord(status)) return undefined;
  if (error !== undefined && error !== null && !isText(error)) return undefined;
  return { connectionId: providerId, at, status: stableWord(status), reason: reasonOf(error ?? null) };
}

function objectOf(line: string): Record<string, unknown> {
  if (line.length > MAX_ROW_CHARS || !line.startsWith('{')) return {};
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return {};
  }
}

/** RFC 3339, or whole milliseconds since 1970. */
function timeOf(ts: unknown, now: Date): Date | undefined {
  if (typeof ts === 'string' ? !isTime(ts) : !Number.isSafeInteger(ts)) return undefined;
  const at = new Date(ts as string | number);
  return at.getTime() >= EARLIEST_MS && at.getTime() <= now.getTime() + AHEAD_MS ? at : undefined;
}

/** PostgreSQL takes no NUL in text. */
function isText(value: unknown): value is string {
  return typeof value === 'string' && !value.includes('\0');
}

function isWord(value: unknown): value is string {
  return isText(value) && value !== '';
}

function reasonOf(error: string | null): string | null {
  return error === null ? null : (providerFailureReasons.find((reason) => reason === error) ?? 'unknown');
}
