import type { Query } from './search-terms.js';

/** How well a term matches each word of the query it matches at all: pairs of word index and quality, flattened. */
type Match = readonly number[];

const WHOLE = 1;
const COMPOUND = 0.8;
const SYNONYM = 0.5;
const PREFIX = 0.45;
const TERM_IS_PREFIX = 0.3;
const SUBSTRING = 0.25;
const MIN_PREFIX = 3;
const MIN_SUBSTRING = 4;
const NO_MATCH: Match = [];

/** Compares terms with the words of one query; each distinct term is looked at once. */
export class TermMatcher {
  private readonly known = new Map<string, Match>();

  constructor(private readonly query: Query) {}

  /** Raises `best`, one place a query word, to the best quality among the terms; false when nothing matches. */
  bestOf(terms: readonly string[], best: Float64Array): boolean {
    let found = false;
    for (let at = 0; at < terms.length; at += 1) {
      const term = terms[at] as string; // in range
      let match = this.known.get(term);
      if (match === undefined) this.known.set(term, (match = this.match(term)));
      for (let pair = 0; pair < match.length; pair += 2) {
        const word = match[pair] as number; // pairs, so both are there
        const quality = match[pair + 1] as number;
        if (quality > (best[word] as number)) best[word] = quality;
        found = true;
      }
    }
    return found;
  }

  private match(term: string): Match {
    const qualities = new Map<number, number>();
    const raise = (word: number, quality: number) => qualities.set(word, Math.max(qualities.get(word) ?? 0, quality));
    for (const [at, { word, stem, synonyms }] of this.query.words.entries()) {
      const quality = qualityOf(term, word, stem, synonyms);
      if (quality > 0) raise(at, quality);
    }
    for (const { stem, synonyms, words } of this.query.compounds) {
      const quality = stem === term ? COMPOUND : synonyms.includes(term) ? SYNONYM : 0;
      if (quality > 0) for (const word of words) raise(word, quality);
    }
    return qualities.size === 0 ? NO_MATCH : [...qualities].flat();
  }
}

function qualityOf(term: string, word: string, stem: string, synonyms: readonly string[]): number {
  if (term === stem || term === word) return WHOLE;
  if (synonyms.includes(term)) return SYNONYM;
  const closeness = (shorter: number, longer: number) => 0.5 + (0.5 * shorter) / longer;
  if (word.length >= MIN_PREFIX && (term.startsWith(word) || (stem.length > MIN_SUBSTRING && term.startsWith(stem)))) {
    return PREFIX * closeness(stem.length, term.length);
  }
  if (term.length >= MIN_SUBSTRING && stem.startsWith(term))
    return TERM_IS_PREFIX * closeness(term.length, stem.length);
  if (stem.length >= MIN_SUBSTRING && term.includes(stem)) return SUBSTRING * closeness(stem.length, term.length);
  return 0;
}
