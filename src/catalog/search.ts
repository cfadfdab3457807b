import { matchDocuments, type Strengths } from './document-matcher.js';
import { compactName, parseQuery, type DocumentTerms, type Query, type SearchableTool } from './search-terms.js';

export interface ToolDocument extends SearchableTool {
  /** Place in its provider's catalog. */
  position: number;
  granted: boolean;
  /** Terms computed earlier by `documentTerms`; computed now when missing. */
  terms?: DocumentTerms;
}

export interface SearchHit<T extends ToolDocument = ToolDocument> {
  document: T;
  /** Only comparable within one answer. */
  score: number;
}

export interface SearchContext {
  /** Tools the documents were chosen from, when only candidates are given; else their number. */
  totalDocuments?: number;
  /** How many of all tools hold a stem; else counted over the given documents. */
  documentFrequency?: (stem: string) => number | undefined;
  /** Most hits wanted. */
  limit?: number;
}

const SATURATION = 2;
const GRANTED_FACTOR = 1.15;
/** Above any sum of words: the exact name, then the name in another spelling. */
const EXACT_NAME = 2_000;
const SAME_NAME = 1_000;

/**
 * Ranks tools for a query, best first; tools that match no word are left out. The same input always gives the same
 * order: ties go to granted tools, then to catalog order.
 */
export function rankTools<T extends ToolDocument>(
  query: string,
  documents: readonly T[],
  context: SearchContext = {},
): SearchHit<T>[] {
  const parsed = parseQuery(query);
  const strengths = matchDocuments(parsed, documents);
  const rarity = rarityOfWords(parsed, strengths, documents.length, context);
  const wordCount = parsed.words.length;
  const allRarity = rarity.reduce((sum, value) => sum + value, 0);
  const wantedName = compactName(parsed.text);
  const hits: SearchHit<T>[] = [];
  for (const [at, document] of documents.entries()) {
    let sum = 0;
    let covered = 0;
    for (let word = 0; word < wordCount; word += 1) {
      const strength = strengths.total[at * wordCount + word] ?? 0;
      if (strength === 0) continue;
      const worth = rarity[word] ?? 0;
      sum += (worth * strength) / (strength + SATURATION);
      covered += worth * Math.min(1, strength);
    }
    const relevance = sum * (0.5 + (0.5 * covered) / (allRarity || 1)) * (document.granted ? GRANTED_FACTOR : 1);
    const score = relevance + nameBonus(document.name, parsed.text, wantedName);
    if (score > 0) hits.push({ document, score: Math.round(score * 1e6) / 1e6 });
  }
  hits.sort(byRank);
  return context.limit === undefined ? hits : hits.slice(0, context.limit);
}

/** Inverse document frequency; a word no tool holds whole counts as rare as its partial matches are. */
function rarityOfWords(query: Query, strengths: Strengths, given: number, context: SearchContext): number[] {
  const total = Math.max(context.totalDocuments ?? 0, given);
  return query.words.map(({ stem }, word) => {
    const counted = strengths.whole[word] || strengths.any[word] || 0;
    const frequency = Math.min(total, context.documentFrequency?.(stem) ?? counted);
    return Math.log(1 + (total - frequency + 0.5) / (frequency + 0.5));
  });
}

function nameBonus(name: string, text: string, wantedName: string): number {
  if (name === text && text !== '') return EXACT_NAME;
  const mayBeSame = wantedName !== '' && name.length >= wantedName.length && name.length <= 2 * wantedName.length;
  return mayBeSame && compactName(name) === wantedName ? SAME_NAME : 0;
}

function byRank(left: SearchHit, right: SearchHit): number {
  return (
    right.score - left.score ||
    Number(right.document.granted) - Number(left.document.granted) ||
    left.document.position - right.document.position ||
    compareText(left.document.providerId, right.document.providerId) ||
    compareText(left.document.name, right.document.name)
  );
}

function compareText(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
