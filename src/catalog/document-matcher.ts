import { documentTerms, type DocumentTerms, type Query, type SearchableTool } from './search-terms.js';
import { TermMatcher } from './term-matcher.js';

/** How strongly each document matches each word of a query. */
export interface Strengths {
  /** Row by document, column by query word: quality times weight, added up over the fields. */
  total: Float64Array;
  /** By query word: the documents that hold it as a whole word. */
  whole: number[];
  /** By query word: the documents that match it in any way. */
  any: number[];
}

/** Weight, and the number of terms at which a match counts exactly that; in longer fields it counts less. */
const FIELDS = [
  { field: 'name', weight: 4, usualLength: 3 },
  { field: 'compact', weight: 4, usualLength: 3 },
  { field: 'title', weight: 3, usualLength: 3 },
  { field: 'summary', weight: 2, usualLength: 8 },
  { field: 'provider', weight: 1.5, usualLength: 3 },
  { field: 'description', weight: 1, usualLength: 40 },
] as const satisfies readonly { field: keyof DocumentTerms; weight: number; usualLength: number }[];
/** The first three fields mostly say the same: only the best of them counts. */
const NAMING_FIELDS = 3;
const LENGTH_INFLUENCE = 0.6;
const MIN_RELATIVE_LENGTH = 0.5;

/** Compares all documents with all words. Written with plain loops: this is where the time of a search goes. */
export function matchDocuments(
  query: Query,
  documents: readonly (SearchableTool & { terms?: DocumentTerms })[],
): Strengths {
  const count = query.words.length;
  const matcher = new TermMatcher(query);
  const total = new Float64Array(documents.length * count);
  const whole = Array.from<number>({ length: count }).fill(0);
  const any = Array.from<number>({ length: count }).fill(0);
  const best = new Float64Array(count);
  const naming = new Float64Array(count);
  const peak = new Float64Array(count);
  let row = 0;
  for (const document of documents) {
    const terms = document.terms ?? documentTerms(document);
    let matched = false;
    for (let place = 0; place < FIELDS.length; place += 1) {
      const { field, weight, usualLength } = FIELDS[place] as (typeof FIELDS)[number];
      const fieldTerms = terms[field];
      if (!matcher.bestOf(fieldTerms, best)) continue;
      matched = true;
      const relativeLength = field === 'compact' ? 1 : Math.max(MIN_RELATIVE_LENGTH, fieldTerms.length / usualLength);
      const factor = weight / (1 - LENGTH_INFLUENCE + LENGTH_INFLUENCE * relativeLength);
      for (let word = 0; word < count; word += 1) {
        const quality = best[word] as number; // in range, as all indexes here
        if (quality === 0) continue;
        best[word] = 0;
        if (quality > (peak[word] as number)) peak[word] = quality;
        let gain = factor * quality;
        if (place < NAMING_FIELDS) {
          const before = naming[word] as number;
          naming[word] = Math.max(before, gain);
          gain = Math.max(0, gain - before);
        }
        total[row + word] = (total[row + word] as number) + gain;
      }
    }
    row += count;
    if (!matched) continue;
    for (let word = 0; word < count; word += 1) {
      if ((peak[word] as number) >= 1) whole[word] = (whole[word] as number) + 1;
      if ((peak[word] as number) > 0) any[word] = (any[word] as number) + 1;
    }
    naming.fill(0);
    peak.fill(0);
  }
  return { total, whole, any };
}
