import { isCommonWord, stemOf, synonymsOf } from './search-words.js';

/** The texts of a tool that are searched. */
export interface SearchableTool {
  providerId: string;
  providerName: string;
  name: string;
  title?: string;
  description?: string;
}

/** Distinct normalised terms of a tool by field, ready to be stored as JSON. */
export interface DocumentTerms {
  name: string[];
  title: string[];
  /** Of the first sentence of the description. */
  summary: string[];
  /** Of the rest of the description. */
  description: string[];
  provider: string[];
  /** Names of several words written as one: `createissue`. */
  compact: string[];
}

/** One word of a query. */
export interface QueryWord {
  /** Normalised, not stemmed. */
  word: string;
  stem: string;
  synonyms: readonly string[];
}

export interface Query {
  /** The query as asked, trimmed and cut to 500 characters. */
  text: string;
  words: QueryWord[];
  /** Neighbours written as one, `look up` as `lookup`: the stem, and the places in `words` of those that are kept. */
  compounds: { stem: string; synonyms: readonly string[]; words: number[] }[];
}

const MAX_QUERY_LENGTH = 500;
const MAX_QUERY_WORDS = 32;
const MAX_SUMMARY = 240;
const MAX_DESCRIPTION = 1_000;
const MAX_TERMS = 60;
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u;

/** The terms of one tool; at most 60 a field. */
export function documentTerms(tool: SearchableTool): DocumentTerms {
  const description = (tool.description ?? '').trim().slice(0, MAX_DESCRIPTION);
  const summaryEnd = endOfFirstSentence(description);
  const summary = termsOf(description.slice(0, summaryEnd));
  const names = [tool.name, tool.providerId, tool.providerName];
  return {
    name: termsOf(tool.name),
    title: termsOf(tool.title ?? ''),
    summary,
    description: termsOf(description.slice(summaryEnd)).filter((term) => !summary.includes(term)),
    provider: termsOf(`${tool.providerId} ${tool.providerName}`),
    compact: distinct(names.flatMap((name) => compactForms(name))),
  };
}

/** All distinct terms of a tool, for choosing candidates by index before ranking them. */
export function searchTerms(tool: SearchableTool): string[] {
  return distinct(Object.values(documentTerms(tool)).flat());
}

/** Every term of which a tool must hold at least one to match the query with a whole word. */
export function queryTerms(query: string): string[] {
  const { words, compounds } = parseQuery(query);
  const whole = words.flatMap(({ stem, synonyms }) => [stem, ...synonyms]);
  return distinct([
    ...whole,
    ...compounds.flatMap(({ stem, synonyms }) => [stem, ...synonyms]),
    ...compactForms(query),
  ]);
}

/** Reads a query: at most 500 characters, 32 distinct words, without common ones. */
export function parseQuery(query: string): Query {
  const text = query.slice(0, MAX_QUERY_LENGTH).trim();
  const words: QueryWord[] = [];
  const compounds: Query['compounds'] = [];
  let before: { word: string; at: number[] } = { word: '', at: [] };
  for (const word of splitWords(text)) {
    const at = isCommonWord(word) ? [] : [placeOf(word, words)];
    const compound = stemOf(before.word + word);
    const pair = [...before.at, ...at];
    if (before.word !== '' && pair.length > 0 && compounds.length < MAX_QUERY_WORDS) {
      compounds.push({ stem: compound, synonyms: synonymsOf(compound), words: pair });
    }
    before = { word, at };
    if (words.length === MAX_QUERY_WORDS) break;
  }
  return { text, words, compounds };
}

/** A name without its separators and case, as it is compared with other spellings of the same name. */
export function compactName(name: string): string {
  return normalised(name).replaceAll(/[^\p{L}\p{N}]+/gu, '');
}

/** The place of the word in `words`, where it is added unless another form of it is there. */
function placeOf(word: string, words: QueryWord[]): number {
  const stem = stemOf(word);
  const known = words.findIndex((other) => other.stem === stem);
  return known === -1 ? words.push({ word, stem, synonyms: synonymsOf(stem) }) - 1 : known;
}

function termsOf(text: string): string[] {
  const words = splitWords(text).filter((word) => !isCommonWord(word));
  return distinct(words.map(stemOf)).slice(0, MAX_TERMS);
}

/** Words in lower case, split at separators and inside camelCase; unspaced scripts as pairs of characters. */
function splitWords(text: string): string[] {
  const spaced = text
    .replaceAll(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2')
    .replaceAll(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .replaceAll(/['’](?=\p{L})/gu, '');
  return normalised(spaced)
    .split(/[^\p{L}\p{M}\p{N}]+/u)
    .filter((word) => word !== '')
    .flatMap((word) => (UNSPACED.test(word) ? characterPairs(word) : [word]));
}

/** Lower case, compatible forms unified, Latin accents removed. */
function normalised(text: string): string {
  const bare = text.normalize('NFKD').replaceAll(/(?<=\p{Script=Latin})\p{Mn}+/gu, '');
  return bare.normalize('NFC').toLowerCase();
}

function characterPairs(word: string): string[] {
  const characters = Array.from(word);
  if (characters.length < 3) return [word];
  return characters.slice(1).map((character, at) => `${characters[at]}${character}`);
}

/** The whole name as one word, and each of its parts that camelCase splits. */
function compactForms(name: string): string[] {
  const parts = name.split(/[^\p{L}\p{M}\p{N}]+/u).filter((part) => part !== '');
  const split = parts.filter((part) => splitWords(part).length > 1);
  const whole = parts.length > 1 ? [parts.join('')] : [];
  return [...whole, ...split]
    .map((form) => stemOf(compactName(form)))
    .filter((form) => form !== '' && form.length <= 100);
}

function endOfFirstSentence(text: string): number {
  const end = text.search(/[.!?。！？](?:\s|$)|\n\s*\n|(?<=[。！？])/u);
  return end === -1 ? Math.min(text.length, MAX_SUMMARY) : Math.min(end, MAX_SUMMARY);
}

function distinct(words: readonly string[]): string[] {
  return [...new Set(words)];
}
