import type { CallAnswer } from '../../src/runtime/calls.dto.js';
import type { Arrival } from '../revocation.arrival-log.js';
import type { Api } from '../support/api.js';
import type { Outcome } from './crash-load.js';

/** Calls that started at or after `from`, by `arguments.n`. */
export async function rowsSince(api: Api, from: string): Promise<Map<number, CallAnswer>> {
  const rows = new Map<number, CallAnswer>();
  let cursor = '';
  do {
    const page = await api.expect<{ items: CallAnswer[]; nextCursor: string | null }>(
      200,
      'GET',
      `/api/calls?limit=200&from=${encodeURIComponent(from)}${cursor}`,
    );
    for (const row of page.items) {
      const number = /"n":(\d+)/.exec(row.argumentPreview ?? '')?.[1];
      if (number !== undefined) rows.set(Number(number), row);
    }
    cursor = page.nextCursor === null ? '' : `&cursor=${encodeURIComponent(page.nextCursor)}`;
  } while (cursor !== '');
  return rows;
}

/** How often each call arrived. */
export function countArrivals(arrivals: readonly Arrival[]): Map<number, number> {
  const counts = new Map<number, number>();
  for (const { number } of arrivals) counts.set(number, (counts.get(number) ?? 0) + 1);
  return counts;
}

/** What calls and their evidence must not show; numbers of calls. */
export interface Findings {
  arrivalsWithoutRow: number[];
  sentTwice: number[];
  /** Receipts that say what is not so. */
  untrue: number[];
}

/** Judges calls by what their callers were told, what the providers noted and what the receipts say. */
export function judge(
  outcomes: ReadonlyMap<number, Outcome>,
  arrivals: ReadonlyMap<number, number>,
  rows: ReadonlyMap<number, CallAnswer>,
): Findings {
  const arrived = (number: number): number => arrivals.get(number) ?? 0;
  const numbers = [...outcomes.keys()];
  return {
    arrivalsWithoutRow: numbers.filter((number) => arrived(number) > 0 && !rows.has(number)),
    sentTwice: numbers.filter((number) => arrived(number) > 1),
    untrue: numbers.filter((number) => {
      const row = rows.get(number);
      if (row === undefined) return outcomes.get(number) === 'ok';
      return arrived(number) > 0 ? row.sent === 'no' : row.ok === true;
    }),
  };
}
