import { describe, expect, it } from '@jest/globals';
import { checkTool, collectTools, type ToolDefinition } from './tool-definition.js';

const SCHEMA = { type: 'object', properties: {} };

function accepted(entry: unknown): { tool: ToolDefinition; codes: string[] } {
  const checked = checkTool(entry);
  if ('skipped' in checked) throw new Error(checked.skipped.message);
  return { tool: checked.tool, codes: checked.warnings.map(({ code }) => code) };
}

function skippedCode(entry: unknown): string {
  const checked = checkTool(entry);
  return 'skipped' in checked ? checked.skipped.code : 'kept';
}

describe('checkTool: names (A17)', () => {
  it.each([
    'calendar.read',
    'user/profile update',
    '検索',
    'constructor',
    '__proto__',
    'toString',
    ' padded ',
    'L'.repeat(130),
    '😀',
    'L'.repeat(512),
  ])('carries %j exactly', (name) => {
    expect(accepted({ name, inputSchema: SCHEMA }).tool.name).toBe(name);
  });

  it.each([
    [{ name: '', inputSchema: SCHEMA }, 'name_invalid'],
    [{ name: 'bad\nname', inputSchema: SCHEMA }, 'name_invalid'],
    [{ name: 'c1\u0085', inputSchema: SCHEMA }, 'name_invalid'],
    [{ name: 'lone \ud83d', inputSchema: SCHEMA }, 'name_invalid'],
    [{ name: 7, inputSchema: SCHEMA }, 'name_invalid'],
    [{ inputSchema: SCHEMA }, 'name_invalid'],
    [{ name: 'L'.repeat(513), inputSchema: SCHEMA }, 'name_too_long'],
    [null, 'tool_invalid'],
    ['text', 'tool_invalid'],
    [[], 'tool_invalid'],
  ])('leaves out %j', (entry, code) => {
    expect(skippedCode(entry)).toBe(code);
  });

  it('shows a bad name in its warning only in printable form', () => {
    const checked = checkTool({ name: `bad\u0000\u001b[31m${'x'.repeat(600)}` });
    expect('skipped' in checked && checked.skipped.tool).toMatch(/^bad\ufffd\ufffd\[31mx{100,}…$/);
  });
});

describe('checkTool: schemas (A18)', () => {
  it.each([
    [{}],
    [{ type: 'object', properties: { payload: true, never: false } }],
    [
      {
        anyOf: [
          { type: 'object', required: ['id'] },
          { type: 'object', required: ['slug'] },
        ],
      },
    ],
    [{ type: ['object', 'null'] }],
    [{ type: 'object', if: { properties: { mode: { const: 'a' } } }, else: { required: ['mode'] } }],
    [{ $schema: 'http://json-schema.org/draft-07/schema#' }],
    [{ $schema: 'urn:nobody:knows', type: 'object' }],
    [{ type: 'object', properties: null, required: null }],
  ])('keeps the odd but legal %j as it came', (inputSchema) => {
    const { tool, codes } = accepted({ name: 'a', inputSchema });
    expect(tool.inputSchema).toBe(inputSchema);
    expect(codes).toEqual([]);
  });

  it.each([[undefined], [null], ['object'], [true], [[]], [{ type: 'string' }], [{ type: ['string', 'null'] }]])(
    'replaces the unusable %j',
    (inputSchema) => {
      const { tool, codes } = accepted({ name: 'a', inputSchema });
      expect(tool.inputSchema).toEqual({ type: 'object' });
      expect(codes).toEqual(['input_schema_invalid']);
    },
  );

  it('does not read another spelling of the field', () => {
    expect(accepted({ name: 'snake', input_schema: SCHEMA }).codes).toEqual(['input_schema_invalid']);
  });
});

describe('checkTool: other fields (A14)', () => {
  it('takes null for absent and keeps the entry itself', () => {
    const entry = {
      name: 'plain',
      title: null,
      description: null,
      inputSchema: SCHEMA,
      outputSchema: null,
      annotations: null,
      icons: null,
      _meta: null,
      execution: { taskSupport: 'optional' },
      vendorExtra: { a: 1 },
    };
    const { tool, codes } = accepted(entry);
    expect(tool).toEqual({ name: 'plain', inputSchema: SCHEMA, raw: entry });
    expect(tool.raw).toBe(entry);
    expect(codes).toEqual([]);
  });

  it('drops what has the wrong type, each with its warning', () => {
    const { tool, codes } = accepted({
      name: 'a',
      title: 1,
      description: ['x'],
      inputSchema: SCHEMA,
      outputSchema: true,
      annotations: 'none',
    });
    expect(Object.keys(tool).toSorted()).toEqual(['inputSchema', 'name', 'raw']);
    expect(codes.toSorted()).toEqual([
      'annotations_invalid',
      'description_invalid',
      'output_schema_invalid',
      'title_invalid',
    ]);
  });

  it.each([
    [{ title: 'Own', annotations: { title: 'Other' } }, 'Own'],
    [{ annotations: { title: 'Other' } }, 'Other'],
    [{ title: '', annotations: { title: 'Other' } }, 'Other'],
    [{}, undefined],
  ])('finds the title in %j', (fields, title) => {
    expect(accepted({ name: 'a', inputSchema: SCHEMA, ...fields }).tool.title).toBe(title);
  });

  it('cuts a definition past 256 KiB down to its essentials', () => {
    const { tool, codes } = accepted({
      name: 'big',
      description: 'd'.repeat(20_000),
      annotations: { destructiveHint: true, title: 'Big' },
      inputSchema: { type: 'object', description: 'x'.repeat(256 * 1024) },
      extra: 1,
    });
    expect(codes).toEqual(['definition_too_large']);
    expect(tool.inputSchema).toEqual({ type: 'object' });
    expect(tool.annotations).toEqual({ destructiveHint: true });
    expect(Object.keys(tool.raw).toSorted()).toEqual(['annotations', 'description', 'inputSchema', 'name']);
    expect(JSON.stringify(tool).length).toBeLessThan(40_000);
  });

  it('keeps a schema 1,500 levels deep and cuts one of 100,000 (A19)', () => {
    const nested = (levels: number) => {
      let schema: unknown = { type: 'string' };
      for (let level = 0; level < levels; level += 1) schema = { not: schema };
      return { name: 'deep', inputSchema: { type: 'object', not: schema } };
    };
    expect(accepted(nested(1_500)).codes).toEqual([]);
    expect(accepted(nested(20_000)).codes).toEqual(['definition_too_deep']);
    expect(accepted(nested(100_000)).tool.inputSchema).toEqual({ type: 'object' });
  });
});

describe('collectTools', () => {
  it('keeps the first of each exact name, and names that differ in case or separator apart (A16)', () => {
    const entry = (name: string, description: string) => ({ name, description, inputSchema: SCHEMA });
    const { tools, warnings } = collectTools([
      entry('search', 'first'),
      entry('search', 'second'),
      entry('Search', 'capital'),
      entry('search-a', 'x'),
      entry('search_a', 'x'),
      entry('__proto__', 'x'),
      entry('__proto__', 'y'),
    ]);
    expect(tools.map(({ name, description }) => `${name} ${description}`)).toEqual([
      'search first',
      'Search capital',
      'search-a x',
      'search_a x',
      '__proto__ x',
    ]);
    expect(warnings.map(({ tool, code }) => `${tool} ${code}`)).toEqual([
      'search duplicate_name',
      '__proto__ duplicate_name',
    ]);
  });

  it('lets no bad entry hide a good one', () => {
    const good = { name: 'good', inputSchema: SCHEMA };
    const { tools, warnings } = collectTools([null, { name: '' }, 7, good, { name: 'poor' }]);
    expect(tools.map(({ name }) => name)).toEqual(['good', 'poor']);
    expect(warnings).toHaveLength(4);
  });

  it('bounds the warnings and says how many more there are', () => {
    const { warnings } = collectTools(Array.from({ length: 1_000 }, () => null));
    expect(warnings).toHaveLength(201);
    expect(warnings.at(-1)).toEqual({ code: 'more_warnings', message: '800 more warnings are not shown' });
  });
});
