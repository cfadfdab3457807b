import { describe, expect, it } from '@jest/globals';
import { CatalogLimitError, CatalogProtocolError, readToolPages } from './tool-page-reader.js';

/** Serves pages by position and records the cursors it was asked for. */
function provider(pages: unknown[]) {
  const asked: (string | undefined)[] = [];
  const fetchPage = async (cursor: string | undefined): Promise<unknown> => {
    asked.push(cursor);
    return pages[Math.min(asked.length, pages.length) - 1];
  };
  return { asked, fetchPage };
}

const tool = (name: string) => ({ name, inputSchema: { type: 'object' } });
const names = (tools: unknown[]) => tools.map((entry) => (entry as { name: string }).name);

describe('readToolPages', () => {
  it('reads every page and hands cursors back unchanged (A13)', async () => {
    const odd = ['next page/1?=&é', '{"o":2}'];
    const { asked, fetchPage } = provider([
      { tools: [tool('a')], nextCursor: odd[0] },
      { tools: [], nextCursor: odd[1] },
      { tools: [tool('b'), tool('c')], nextCursor: '' },
    ]);
    const read = await readToolPages(fetchPage);
    expect(names(read.tools)).toEqual(['a', 'b', 'c']);
    expect(asked).toEqual([undefined, ...odd]);
    expect(read).toMatchObject({ pages: 3, warnings: [] });
  });

  it.each([undefined, null, ''])('takes the cursor %p for the end', async (nextCursor) => {
    const { asked, fetchPage } = provider([{ tools: [tool('a')], nextCursor }]);
    await readToolPages(fetchPage);
    expect(asked).toHaveLength(1);
  });

  it('ends at a stuck cursor without listing its page twice (A12)', async () => {
    const { asked, fetchPage } = provider([{ tools: [tool('a'), tool('b')], nextCursor: 'stuck' }]);
    const read = await readToolPages(fetchPage);
    expect(asked).toEqual([undefined, 'stuck']);
    expect(names(read.tools)).toEqual(['a', 'b']);
    expect(read.warnings.map(({ code }) => code)).toEqual(['cursor_repeated']);
  });

  it('ends at a cycle of cursors and keeps tools that are new', async () => {
    const { asked, fetchPage } = provider([
      { tools: [tool('a')], nextCursor: 'x' },
      { tools: [tool('b')], nextCursor: 'y' },
      { tools: [tool('c')], nextCursor: 'x' },
    ]);
    const read = await readToolPages(fetchPage);
    expect(asked).toHaveLength(3);
    expect(names(read.tools)).toEqual(['a', 'b', 'c']);
  });

  it.each([
    ['pages', { pages: 3, tools: 1_000, bytes: 1e6 }, 3],
    ['tools', { pages: 1_000, tools: 10, bytes: 1e6 }, 6],
    ['bytes', { pages: 1_000, tools: 1_000, bytes: 1_000 }, 8],
  ] as const)('refuses an endless catalog by its %s (A15)', async (limit, limits, requests) => {
    let page = 0;
    const endless = async () => ({
      tools: [tool(`t${(page += 1)}a`), tool(`t${page}b`)],
      nextCursor: `cursor ${page} ${'.'.repeat(10)}`,
    });
    const reading = readToolPages(endless, limits);
    await expect(reading).rejects.toThrow(CatalogLimitError);
    await expect(reading).rejects.toMatchObject({ limit, maximum: limits[limit] });
    expect(page).toBe(requests);
  });

  it('accepts a catalog that is exactly at its caps', async () => {
    const { fetchPage } = provider([{ tools: [tool('a')], nextCursor: 'x' }, { tools: [tool('b')] }]);
    const read = await readToolPages(fetchPage, { pages: 2, tools: 2, bytes: 1_000 });
    expect(read.tools).toHaveLength(2);
  });

  it.each([
    [null, 'is not an object'],
    [[], 'is not an object'],
    ['tools', 'is not an object'],
    [{}, 'has no array "tools"'],
    [{ tools: { a: 1 } }, 'has no array "tools"'],
    [{ tools: [], nextCursor: 7 }, 'not a string'],
  ])('calls the page %j malformed', async (answer, problem) => {
    const reading = readToolPages(async () => answer);
    await expect(reading).rejects.toThrow(CatalogProtocolError);
    await expect(reading).rejects.toThrow(problem);
  });

  it('passes on what fetching throws', async () => {
    const failure = new Error('gone');
    await expect(readToolPages(() => Promise.reject(failure))).rejects.toBe(failure);
  });
});
