import { describe, expect, it } from '@jest/globals';
import { documentTerms, parseQuery, queryTerms, searchTerms } from './search-terms.js';
import { stemOf } from './search-words.js';

const tool = (name: string, description = '') => ({ providerId: 'p', providerName: 'P', name, description });
const words = (query: string) => parseQuery(query).words.map(({ word }) => word);

describe('documentTerms', () => {
  it.each([
    ['create_or_update_file', ['creat', 'updat', 'fil']],
    ['appTableRecord.batchGetID', ['app', 'tabl', 'record', 'batch', 'get', 'id']],
    ['HTTPServer-start/now', ['http', 'server', 'start', 'now']],
    ['sha256sum', ['sha256sum']],
    ['Straße_Café', ['straße', 'caf']],
    ['検索する', ['検索', '索す', 'する']],
    ['поиск_файлов', ['поиск', 'файлов']],
    ['!!!', []],
  ])('splits the name %s', (name, expected) => {
    expect(documentTerms(tool(name)).name).toEqual(expected);
  });

  it('tells the first sentence from the rest', () => {
    const terms = documentTerms(tool('a', 'Reads files. Also deletes files in v1.2 of it.'));
    expect(terms.summary).toEqual(['read', 'fil']);
    expect(terms.description).toEqual(['delet', 'v1', '2']);
  });

  it('survives JSON and bounds its lists', () => {
    const terms = documentTerms(tool('n'.repeat(512), Array.from({ length: 9_000 }, (_, at) => `w${at}`).join(' ')));
    expect(JSON.parse(JSON.stringify(terms))).toEqual(terms);
    expect(Object.values(terms).flat().length).toBeLessThan(200);
  });
});

describe('stemOf', () => {
  it.each([
    ['creating', 'create'],
    ['created', 'creates'],
    ['repositories', 'repository'],
    ['searches', 'search'],
    ['running', 'run'],
    ['issues', 'issue'],
    ['files', 'file'],
    ['boxes', 'box'],
    ['installed', 'install'],
  ])('makes %s and %s one', (left, right) => {
    expect(stemOf(left)).toBe(stemOf(right));
  });

  it.each(['status', 'class', 'bus', 'red', 'thing', 'analysis'])('leaves the end of %s', (word) => {
    expect(word.startsWith(stemOf(word)) && stemOf(word).length >= word.length - 1).toBe(true);
  });

  it.each([
    ['string', 'stre'],
    ['need', 'ne'],
    ['news', 'ne'],
  ])('does not make %s into %s', (word, wrong) => {
    expect(stemOf(word)).not.toBe(wrong);
  });
});

describe('parseQuery', () => {
  it('drops common words and repetitions', () => {
    expect(words('please can you create the issues about an Issue')).toEqual(['create', 'issues']);
    expect(words('what is it')).toEqual([]);
  });

  it('bounds length and number of words', () => {
    const long = Array.from({ length: 1_000 }, (_, at) => `q${at}`).join(' ');
    expect(parseQuery(long).text.length).toBeLessThanOrEqual(500);
    expect(words(long)).toHaveLength(32);
    expect(parseQuery(long).compounds.length).toBeLessThanOrEqual(32);
  });

  it('takes any text', () => {
    for (const text of ['', ' ', '😀', '\u0000\ud83d', '%_\\', '(((', '-- "']) expect(() => words(text)).not.toThrow();
  });
});

describe('candidates by term', () => {
  it.each([
    ['create an issue', 'create_issue'],
    ['createIssue', 'create_issue'],
    ['CREATE-ISSUE', 'createIssue'],
    ['look up weather', 'search_weather'],
    ['screen shot', 'takeScreenshot'],
    ['make a ticket', 'create_issue'],
  ])('%s meets %s', (query, name) => {
    const held = new Set(searchTerms(tool(name)));
    expect(queryTerms(query).some((term) => held.has(term))).toBe(true);
  });
});
