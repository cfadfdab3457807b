import { describe, expect, it } from '@jest/globals';
import { recordedCatalogs, writtenTasks } from '../../test/recorded-catalogs.js';
import { documentTerms } from './search-terms.js';
import { rankTools, type ToolDocument } from './search.js';
import { collectTools } from './tool-definition.js';

let position = 0;

function tool(name: string, fields: Partial<ToolDocument> = {}): ToolDocument {
  position += 1;
  return { providerId: 'acme', providerName: 'Acme', name, position, granted: false, ...fields };
}

function ranked(query: string, ...documents: ToolDocument[]): string[] {
  return rankTools(query, documents).map(({ document }) => document.name);
}

describe('rankTools', () => {
  it('puts the exact name first, then other spellings of it, then the rest', () => {
    const documents = [
      tool('create_issue_comment', { description: 'create_issue create issue', granted: true }),
      tool('createIssue'),
      tool('Create_Issue'),
      tool('create_issue'),
    ];
    expect(ranked('create_issue', ...documents)).toEqual([
      'create_issue',
      'createIssue',
      'Create_Issue',
      'create_issue_comment',
    ]);
  });

  it('finds a name without any word in it', () => {
    expect(ranked('!!!', tool('???'), tool('!!!'))).toEqual(['!!!']);
    expect(ranked('how', tool('how'), tool('show_it'))).toEqual(['how']);
  });

  it.each([
    ['any word may match', 'weather in Paris', ['weather'], ['mail']],
    ['more words rank higher', 'weather forecast', ['weather_forecast', 'weather'], []],
    ['prefixes count', 'screen', ['screenshot'], ['offscript']],
    ['substrings count', 'shot', ['screenshot'], ['shout']],
    ['whole words beat prefixes, prefixes beat substrings', 'form', ['form', 'formats', 'platform'], []],
    ['forms of a word meet', 'deleting files', ['delete_file'], ['deltas']],
    ['camelCase is split', 'table field', ['appTableField'], ['apply']],
    ['kebab-case is split', 'library docs', ['get-library-docs'], ['liberal']],
    ['unspaced scripts are searched', '検索', ['全文検索'], ['作成']],
    ['accents do not matter', 'cafe', ['find_café'], ['find_caffeine']],
  ])('%s', (_, query, found, others) => {
    const documents = [...others, ...found.toReversed()].map((name) => tool(name));
    expect(ranked(query, ...documents).slice(0, found.length)).toEqual(found);
  });

  it('weighs name over title over provider over description', () => {
    const documents = [
      tool('a', { description: 'Works. It can do weather' }),
      tool('b', { providerName: 'Weather' }),
      tool('c', { title: 'Weather' }),
      tool('weather'),
    ];
    expect(ranked('weather', ...documents)).toEqual(['weather', 'c', 'b', 'a']);
  });

  it('ranks rarer words higher', () => {
    const many = Array.from({ length: 20 }, (_, at) => tool(`page_${at}`));
    const names = ranked('page heapsnapshot', ...many, tool('heapsnapshot_x'));
    expect(names[0]).toBe('heapsnapshot_x');
  });

  it('counts rarity over all tools when only candidates are given', () => {
    const documents = [tool('alpha_x'), tool('beta_x')];
    const frequency = (common: string) => (stem: string) => (stem === common ? 900 : 1);
    const first = (common: string) =>
      rankTools('alpha beta', documents, { totalDocuments: 1_000, documentFrequency: frequency(common) })[0]?.document
        .name;
    expect(first('alpha')).toBe('beta_x');
    expect(first('beta')).toBe('alpha_x');
  });

  it('ignores common words', () => {
    expect(ranked('what is the weather', tool('what_is_the_time'), tool('weather_now'))).toEqual(['weather_now']);
    expect(rankTools('the of and', [tool('the_thing')])).toEqual([]);
  });

  it('prefers granted tools at similar rank only', () => {
    const granted = { providerId: 'b', granted: true };
    const similar = rankTools('weather', [tool('weather_now'), tool('weather_now_daily', granted)]);
    expect(similar.map(({ document }) => document.granted)).toEqual([true, false]);
    const documents = [tool('alpha_x', granted), tool('alpha_beta_x'), tool('beta_x')];
    expect(ranked('alpha beta', ...documents)[0]).toBe('alpha_beta_x');
  });

  it('orders ties by place in the catalog, then by provider and name, whatever the input order', () => {
    const documents = [
      tool('get_y', { position: 2 }),
      tool('get_x', { position: 1, providerId: 'z' }),
      tool('get_x', { position: 1, providerId: 'y' }),
      tool('get_z', { position: 1, providerId: 'y' }),
    ];
    const order = (list: ToolDocument[]) =>
      rankTools('get', list).map(({ document: d }) => `${d.providerId}/${d.name}`);
    expect(order(documents)).toEqual(['y/get_x', 'y/get_z', 'z/get_x', 'acme/get_y']);
    expect(order(documents.toReversed())).toEqual(order(documents));
  });

  it('finds nothing rather than anything', () => {
    expect(rankTools('zzzz qqqq', [tool('a'), tool('b')])).toEqual([]);
    expect(rankTools('', [tool('a')])).toEqual([]);
    expect(rankTools('weather', [])).toEqual([]);
  });

  it('is not misled by names of object members', () => {
    expect(ranked('constructor', tool('constructor'), tool('__proto__'), tool('toString'))).toEqual(['constructor']);
  });
});

const documents: ToolDocument[] = recordedCatalogs().flatMap(({ id, serverName, pages }) =>
  collectTools(pages.flatMap(({ tools }) => tools)).tools.map(({ name, title, description }, at) => {
    const texts = { providerId: id, providerName: serverName, name, title, description };
    return { ...texts, position: at, granted: false, terms: documentTerms(texts) };
  }),
);

describe.each(['tasks', 'tasks-held-out'] as const)('the written %s over all recorded catalogs', (which) => {
  const results = writtenTasks(which).map(({ task, expect: wanted }) => {
    const hits = rankTools(task, documents);
    const at = hits.findIndex(({ document }) =>
      wanted.some(({ provider, tool: name }) => provider === document.providerId && name === document.name),
    );
    return { task, rank: at === -1 ? Infinity : at + 1 };
  });
  const within = (rank: number) => results.filter((result) => result.rank <= rank).length;

  it.each(results)('has a right tool in the first 12 for: $task', ({ rank }) => {
    expect(rank).toBeLessThanOrEqual(12);
  });

  it('has a right tool in the first 3 for most', () => {
    const table = results.map(({ task, rank }) => `${String(rank).padStart(4)}  ${task}`).join('\n');
    const summary = `${which}: first ${within(1)}, top 3 ${within(3)}, top 12 ${within(12)} of ${results.length}`;
    process.stdout.write(`${table}\n${summary}; ${documents.length} tools\n`);
    expect(results).toHaveLength(20);
    expect(within(3)).toBeGreaterThanOrEqual(15);
  });
});

it('ranks 5,000 documents in milliseconds', () => {
  const copies = Array.from({ length: 11 }, (_, copy) =>
    documents.map((document) => ({ ...document, providerId: `${document.providerId}${copy}` })),
  );
  const many = copies.flat().slice(0, 5_000);
  const times: number[] = [];
  for (let run = 0; run < 15; run += 1) {
    const started = process.cpuUsage();
    rankTools('create an issue in the tracker about a login bug', many, { limit: 20 });
    const { user, system } = process.cpuUsage(started);
    times.push((user + system) / 1_000);
  }
  const fastest = Math.min(...times);
  process.stdout.write(`${many.length} documents: ${fastest.toFixed(1)} ms of CPU at best\n`);
  expect(many).toHaveLength(5_000);
  expect(fastest).toBeLessThan(150); // about 9 ms; the bound only catches a change of order
});
