import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CapabilitiesAnswer } from '../src/runtime/menu.answers.js';
import { MenuBench } from './support/menu-bench.js';
import { temporaryDataDirectory } from './support/temporary-data-directory.js';

type Shown = CapabilitiesAnswer['tools'][number];

/** A schema of about this many characters as JSON. */
const schemaOf = (characters: number): Record<string, unknown> => ({
  type: 'object',
  properties: { what: { type: 'string', description: 'x'.repeat(characters - 80) } },
});
const BULKY = Array.from({ length: 20 }, (_, index) => `bulky_${String(index).padStart(2, '0')}`);
/** A character of two UTF-16 units lies across the 2,000th. */
const LONG = `${'d'.repeat(1_998)}😀${'d'.repeat(3_000)}`;

let bench: MenuBench;

beforeAll(async () => {
  const catalog = join(temporaryDataDirectory(), 'catalog.json');
  const tools = [
    ...BULKY.map((name) => ({ name, description: 'A bulky thing.', inputSchema: schemaOf(3_000) })),
    { name: 'giant', description: LONG, inputSchema: schemaOf(20_000) },
    { name: 'long_winded', description: LONG, inputSchema: { type: 'object' }, title: 't'.repeat(500) },
  ];
  await writeFile(catalog, JSON.stringify(tools));
  bench = await MenuBench.start();
  await bench.connect('large', {}, catalog);
  await bench.agent(
    'demo',
    [...BULKY, 'giant', 'ok', 'typed'].map((tool) => `large/${tool}`),
  );
});

afterAll(() => bench.stop());

const ask = (body: unknown) => bench.menu('demo', 'mcp_capabilities', body);
const schemaCharacters = (tools: Shown[]): number =>
  tools.reduce((sum, { inputSchema }) => sum + (inputSchema === undefined ? 0 : JSON.stringify(inputSchema).length), 0);

describe('mcp_capabilities', () => {
  it('fills a page with at most 16,000 characters of schemas, best first', async () => {
    const { tools } = (await ask({ query: 'bulky', limit: 20 })) as CapabilitiesAnswer;
    expect(tools).toHaveLength(20);
    const omitted = tools.map(({ schemaOmitted }) => schemaOmitted === true);
    expect(omitted).toEqual([...Array(5).fill(false), ...Array(15).fill(true)]);
    expect(schemaCharacters(tools)).toBeLessThanOrEqual(16_000);
    expect(tools.every((tool) => 'inputSchema' in tool !== 'schemaOmitted' in tool)).toBe(true);
  });

  it('shows the schema of the tool whose exact name is asked for, however large', async () => {
    const first = async (query: string): Promise<Shown | undefined> => (await ask({ query })).tools[0];
    const exact = await first('giant');
    expect(exact).toMatchObject({ name: 'giant', inputSchema: schemaOf(20_000) });
    expect(exact).not.toHaveProperty('schemaOmitted');
    expect(await first('a giant thing')).toMatchObject({ name: 'giant', schemaOmitted: true });
    for (const name of ['bulky_19', 'typed', 'ok']) {
      expect(await first(name)).toMatchObject({ name, inputSchema: expect.anything() });
    }
  });

  it('cuts descriptions between characters with a visible mark', async () => {
    const [granted] = (await ask({ query: 'giant' })).tools as Shown[];
    expect(granted?.description).toBe(`${'d'.repeat(1_998)}…`);
    const [other] = (await ask({ query: 'long_winded' })).tools as Shown[];
    expect(other).toMatchObject({ granted: false, description: `${'d'.repeat(199)}…` });
    expect(other?.title?.length).toBeLessThanOrEqual(200);
  });

  it('shows no schema of a tool without a grant, not even by its exact name', async () => {
    const [tool] = (await ask({ query: 'long_winded' })).tools as Shown[];
    expect(tool).not.toHaveProperty('inputSchema');
    expect(tool).not.toHaveProperty('schemaOmitted');
  });

  it.each([
    [undefined, 12],
    [null, 12],
    ['', 12],
    [0, 1],
    [-5, 1],
    [1_000, 20],
    [2.9, 2],
    ['7', 7],
    [1e99, 20],
  ])('brings the limit %j inside: %i tools', async (limit, count) => {
    expect((await ask({ query: 'bulky', limit })).tools).toHaveLength(count);
  });

  it.each([
    ['limit', { limit: 'many' }],
    ['limit', { limit: {} }],
    ['limit', { limit: [7] }],
    ['limit', { limit: true }],
    ['cursor', { cursor: 'not one of ours' }],
    ['cursor', { cursor: Buffer.from('["capabilities",12]').toString('base64url') }],
    ['cursor', { cursor: 7 }],
    ['query', { query: { text: 'x' } }],
    ['query', { query: 'x'.repeat(2_001) }],
    ['provider', { provider: ['large'] }],
    ['arguments', { arguments: { query: 'bulky' } }],
    ['', ['bulky']],
    ['', 'bulky'],
  ])('says what is wrong with %s in %j', async (path, body) => {
    const { ok, error } = await ask(body);
    expect([ok, error.code, error.sent, error.retryable]).toEqual([false, 'mcp_arguments_invalid', 'no', false]);
    expect(error.errors).toEqual([{ path, message: expect.stringMatching(/\S/) }]);
    expect(error.hint).toMatch(/\S/);
  });

  it('pages through everything once, and takes no cursor of another request', async () => {
    const names: string[] = [];
    let cursor: string | null | undefined;
    let pages = 0;
    do {
      const page: CapabilitiesAnswer = await ask({ query: 'bulky', limit: 7, cursor });
      names.push(...page.tools.map(({ name }) => name));
      expect(page.totalCount).toBe(20);
      cursor = page.nextCursor;
      pages += 1;
    } while (cursor !== null && pages < 10);
    expect([pages, names.toSorted()]).toEqual([3, BULKY]);
    const other = await ask({ query: 'bulky', limit: 7 });
    expect((await ask({ query: 'giant', cursor: other.nextCursor })).error.code).toBe('mcp_arguments_invalid');
  });

  it('says what to do when nothing is found', async () => {
    const none = await ask({ query: 'zebra crossing' });
    expect(none).toMatchObject({
      provider: null,
      tools: [],
      totalCount: 0,
      nextCursor: null,
      grantedProviders: ['large'],
    });
    expect(none.hint).toMatch(/\S/);
  });
});

describe('mcp_providers', () => {
  it.each([
    ['cursor', { cursor: 'none' }],
    ['query', { query: 1 }],
    ['limit', { limit: 3 }],
  ])('says what is wrong with %s', async (path, body) => {
    const { ok, error } = await bench.menu('demo', 'mcp_providers', body);
    expect([ok, error.code]).toEqual([false, 'mcp_arguments_invalid']);
    expect(error.errors).toEqual([{ path, message: expect.any(String) }]);
  });

  it('takes null and nothing for what is not needed', async () => {
    for (const body of [{}, { query: null, cursor: null }, { query: '' }, undefined]) {
      expect(await bench.menu('demo', 'mcp_providers', body)).toMatchObject({ total: 1 });
    }
  });
});
