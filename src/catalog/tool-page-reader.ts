import { isDeepStrictEqual } from 'node:util';
import { catalogWarning, type CatalogWarning } from './catalog-warning.js';
import { measureJson } from './json-measure.js';

export interface CatalogLimits {
  pages: number;
  tools: number;
  /** Bytes of all pages together, as compact JSON. */
  bytes: number;
}

export const CATALOG_LIMITS: CatalogLimits = { pages: 100, tools: 5_000, bytes: 20 * 1024 * 1024 };

export interface ToolPages {
  /** The entries as they came, in order, none of them checked. */
  tools: unknown[];
  warnings: CatalogWarning[];
  bytes: number;
  pages: number;
}

/** The catalog passes a cap. What was read so far is not the catalog and must replace nothing. */
export class CatalogLimitError extends Error {
  constructor(
    readonly limit: keyof CatalogLimits,
    readonly maximum: number,
  ) {
    super(`the catalog has more than ${maximum} ${limit}`);
    this.name = 'CatalogLimitError';
  }
}

/** An answer to `tools/list` is not what the protocol says; `page` counts from 1. */
export class CatalogProtocolError extends Error {
  constructor(
    readonly page: number,
    problem: string,
  ) {
    super(`page ${page} of the tool list ${problem}`);
    this.name = 'CatalogProtocolError';
  }
}

/**
 * Reads all pages of a provider's tool list. A cursor is handed back exactly as it came; absent, null and empty mean
 * the end; one that was already used ends paging with the warning `cursor_repeated`.
 * @throws CatalogLimitError past a cap, CatalogProtocolError for a malformed page, and whatever `fetchPage` throws.
 */
export async function readToolPages(
  fetchPage: (cursor: string | undefined) => Promise<unknown>,
  limits: CatalogLimits = CATALOG_LIMITS,
): Promise<ToolPages> {
  const read: ToolPages = { tools: [], warnings: [], bytes: 0, pages: 0 };
  const used = new Set<string>();
  let previous: unknown[] | undefined;
  let cursor: string | undefined;
  do {
    if (read.pages === limits.pages) throw new CatalogLimitError('pages', limits.pages);
    if (cursor !== undefined) used.add(cursor);
    const answer = await fetchPage(cursor);
    read.pages += 1;
    const page = parsePage(answer, read.pages);
    read.bytes += measureJson(answer).bytes;
    if (read.bytes > limits.bytes) throw new CatalogLimitError('bytes', limits.bytes);
    cursor = page.next;
    const repeated = cursor !== undefined && used.has(cursor);
    // A provider whose cursor is stuck sends its last page again: those entries are the same tools, not duplicates.
    if (!(repeated && sameEntries(page.tools, previous))) {
      if (read.tools.length + page.tools.length > limits.tools) throw new CatalogLimitError('tools', limits.tools);
      for (const tool of page.tools) read.tools.push(tool);
    }
    previous = page.tools;
    if (repeated) {
      read.warnings.push(catalogWarning('cursor_repeated', `page ${read.pages} names a cursor that was already used`));
      return read;
    }
  } while (cursor !== undefined);
  return read;
}

function parsePage(answer: unknown, page: number): { tools: unknown[]; next: string | undefined } {
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) {
    throw new CatalogProtocolError(page, 'is not an object');
  }
  const { tools, nextCursor } = answer as { tools?: unknown; nextCursor?: unknown };
  if (!Array.isArray(tools)) throw new CatalogProtocolError(page, 'has no array "tools"');
  if (nextCursor === undefined || nextCursor === null || nextCursor === '') return { tools, next: undefined };
  if (typeof nextCursor !== 'string') throw new CatalogProtocolError(page, 'has a "nextCursor" that is not a string');
  return { tools, next: nextCursor };
}

function sameEntries(entries: unknown[], previous: unknown[] | undefined): boolean {
  try {
    return isDeepStrictEqual(entries, previous);
  } catch {
    return false; // nested too deeply to compare: kept, and reported as duplicates later
  }
}
