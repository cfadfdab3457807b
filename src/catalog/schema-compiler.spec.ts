import { describe, expect, it } from '@jest/globals';
import type { Problem } from './argument-problems.js';
import { compileSchema, findUncheckedSchemas, SchemaCompiler } from './schema-compiler.js';

type Schema = Record<string, unknown>;

function check(schema: Schema, value: unknown): Problem[] {
  const compiled = compileSchema(schema);
  if ('unchecked' in compiled) throw new Error(compiled.unchecked);
  return compiled.validate(value);
}

function reason(schema: Schema): string {
  const compiled = compileSchema(schema);
  return 'unchecked' in compiled ? compiled.unchecked : 'checked';
}

const property = (schema: unknown): Schema => ({ type: 'object', properties: { a: schema } });

/** Parsed, because an object literal with a member `then` looks like a promise. */
const CONDITIONAL = JSON.parse('{"if":{"properties":{"m":{"const":"a"}}},"then":{"required":["n"]}}') as Schema;

describe('compileSchema: odd schemas stay checkable', () => {
  const draft07 = 'http://json-schema.org/draft-07/schema#';
  it.each<[string, Schema, unknown, unknown]>([
    ['boolean property schemas', { properties: { yes: true, no: false } }, { yes: 1 }, { no: 1 }],
    ['nullable', property({ type: 'string', nullable: true }), { a: null }, { a: 1 }],
    ['nullable without a type', property({ nullable: true, enum: ['x'] }), { a: 'x' }, { a: 'y' }],
    ['a list of types', property({ type: ['string', 'null'] }), { a: null }, { a: 1 }],
    ['null keywords', { type: 'object', properties: null, required: null }, { a: 1 }, 7],
    ['null const', property({ const: null }), { a: null }, { a: 1 }],
    ['if and then', CONDITIONAL, { m: 'b' }, { m: 'a' }],
    [
      'draft-07 definitions',
      {
        $schema: draft07,
        properties: { a: { $ref: '#/definitions/A' } },
        definitions: { A: { type: 'string' } },
      },
      { a: 'x' },
      { a: 1 },
    ],
    ['draft-07 tuples', { $schema: draft07, ...property({ items: [{ type: 'string' }] }) }, { a: ['x'] }, { a: [1] }],
    ['draft-07 tuples in no named dialect', property({ items: [{ type: 'string' }] }), { a: ['x'] }, { a: [1] }],
    ['2020-12 tuples', property({ prefixItems: [{ type: 'string' }], items: false }), { a: ['x'] }, { a: ['x', 1] }],
    ['an unknown dialect', { $schema: 'urn:nobody:knows', ...property({ type: 'string' }) }, { a: 'x' }, { a: 1 }],
    [
      'references into unknown keywords',
      {
        ...property({ $ref: '#/components/schemas/A' }),
        components: { schemas: { A: { type: 'string' } } },
      },
      { a: 'x' },
      { a: 1 },
    ],
    [
      'properties named like keywords',
      {
        properties: {
          type: { type: 'string' },
          $ref: { type: 'string' },
          pattern: { type: 'string' },
          enum: { minLength: 1 },
        },
      },
      { type: 'a', $ref: 'b', pattern: '(?<=[' },
      { $ref: 1 },
    ],
    [
      'references to properties named like keywords',
      {
        properties: { enum: { type: 'string' }, b: { $ref: '#/properties/enum' } },
      },
      { b: 'x' },
      { b: 1 },
    ],
    [
      'required among the properties',
      { properties: { coin: { type: 'string' }, required: ['coin'] } },
      { coin: 'x' },
      { coin: 1 },
    ],
    ['dependentRequired', { dependentRequired: { a: ['b'] } }, { a: 1, b: 1 }, { a: 1 }],
    [
      'recursion',
      {
        properties: { root: { $ref: '#/$defs/node' } },
        $defs: { node: { properties: { kids: { items: { $ref: '#/$defs/node' } } }, required: ['v'] } },
      },
      { root: { v: 1, kids: [{ v: 2 }] } },
      { root: { v: 1, kids: [{}] } },
    ],
    ['a draft-04 id', { id: 'http://example.com/tool', ...property({ type: 'string' }) }, { a: 'x' }, { a: 1 }],
    [
      'uniqueItems',
      property({ uniqueItems: true }),
      { a: [1, '1', { x: 1, y: 2 }] },
      {
        a: [
          { x: 1, y: 2 },
          { y: 2, x: 1 },
        ],
      },
    ],
    ['an asynchronous schema', { $async: true, ...property({ type: 'string' }) }, { a: 'x' }, { a: 1 }],
    ['the names of object members', { required: ['toString'] }, { toString: 1 }, {}],
  ])('%s', (_, schema, good, bad) => {
    expect(check(schema, good)).toEqual([]);
    expect(check(schema, bad)).not.toEqual([]);
  });

  it('takes anything when the schema asks for nothing', () => {
    expect(check({}, { x: 1 })).toEqual([]);
  });

  it('takes formats for annotations', () => {
    expect(check(property({ type: 'string', format: 'uri' }), { a: 'no uri' })).toEqual([]);
    expect(check(property({ type: 'string', format: 'no-such-format' }), { a: 'x' })).toEqual([]);
  });

  it('keeps two schemas with the same $id apart', () => {
    const named = (type: string) => ({ $id: 'https://example.com/s', ...property({ type }) });
    expect(check(named('string'), { a: 'x' })).toEqual([]);
    expect(check(named('number'), { a: 1 })).toEqual([]);
  });

  it('leaves the schema as it was', () => {
    const schema = Object.freeze({ ...property(Object.freeze({ type: 'string', default: 'x' })), required: null });
    const before = JSON.stringify(schema);
    check(schema, { a: 1 });
    expect(JSON.stringify(schema)).toBe(before);
  });
});

describe('compileSchema: schemas that cannot be checked', () => {
  it.each<[string, Schema, RegExp]>([
    ['a remote reference', property({ $ref: 'https://example.com/schema.json' }), /outside the schema/],
    ['a dangling reference', property({ $ref: '#/$defs/Missing' }), /to nothing/],
    ['an unknown type', property({ type: 'int' }), /not valid/],
    ['a boolean required', property({ type: 'string', required: true }), /not valid/],
    ['a reference into data', { ...property({ $ref: '#/properties/b/enum/0' }), enum: [1] }, /not a schema/],
    ['too much text', property({ description: 'x'.repeat(256 * 1024) }), /larger than/],
    [
      'too many parts',
      { properties: Object.fromEntries(Array.from({ length: 1_501 }, (_, at) => [`p${at}`, {}])) },
      /parts/,
    ],
    ['too deep', nested(1_500), /64 levels/],
  ])('%s', (_, schema, text) => {
    expect(reason(schema)).toMatch(text);
  });

  it('warns for each of them by name', async () => {
    const tools = [
      { name: 'good', inputSchema: { type: 'object' }, raw: {} },
      { name: 'bad', inputSchema: property({ type: 'int' }), raw: {} },
    ];
    const warnings = await findUncheckedSchemas(tools);
    expect(warnings.map(({ tool, code }) => [tool, code])).toEqual([['bad', 'schema_unchecked']]);
  });
});

function nested(levels: number): Schema {
  let schema: Schema = { type: 'string' };
  for (let level = 0; level < levels; level += 1) schema = { type: 'object', properties: { d: schema } };
  return schema;
}

describe('patterns', () => {
  it('checks what the linear engine can', () => {
    expect(check(property({ pattern: '^[a-z0-9](?:-[a-z]+)*$' }), { a: 'x-ab-c' })).toEqual([]);
    expect(check(property({ pattern: '^\\u0041\\/x$' }), { a: 'A/x' })).toEqual([]);
    expect(check(property({ pattern: 'b+' }), { a: 'abc' })).toEqual([]);
    expect(check(property({ pattern: '^b' }), { a: 'ab' })).toEqual([
      { path: 'arguments.a', message: 'must match the pattern ^b' },
    ]);
  });

  it('skips only the keyword it cannot compile', () => {
    const schema = property({ type: 'string', pattern: '(?<=a)b' });
    expect(check(schema, { a: 'anything' })).toEqual([]);
    expect(check(schema, { a: 1 })).toHaveLength(1);
  });

  it('skips what depends on an unusable patternProperties', () => {
    const schema = { patternProperties: { '(?=x)': {}, '^n': { type: 'number' } }, additionalProperties: false };
    expect(check(schema, { other: 1, n: 1 })).toEqual([]);
    expect(check(schema, { n: 'x' })).toEqual([{ path: 'arguments.n', message: 'must be number, not string' }]);
  });

  it('answers at once where a backtracking engine would take for ever', () => {
    const started = performance.now();
    expect(check(property({ pattern: '^(a+)+$' }), { a: `${'a'.repeat(50_000)}!` })).toHaveLength(1);
    expect(check({ patternProperties: { '^(a+)+$': false } }, { [`${'a'.repeat(50_000)}!`]: 1 })).toEqual([]);
    expect(performance.now() - started).toBeLessThan(2_000);
  });
});

describe('hostile schemas and data', () => {
  it.each<[string, Schema, unknown]>([
    [
      'endless references',
      { ...property({ $ref: '#/$defs/A' }), $defs: { A: { $ref: '#/$defs/B' }, B: { $ref: '#/$defs/A' } } },
      { a: 1 },
    ],
    ['2^40 branches', { ...property({ $ref: '#/$defs/d0' }), $defs: fan(40) }, { a: 1 }],
    [
      'many items, many enum values',
      property({ items: { enum: range(10_000) } }),
      { a: Array.from({ length: 50_000 }, () => 'v9999') },
    ],
    ['many unequal items', property({ uniqueItems: true }), { a: range(200_000) }],
    [
      'many patterns, many names',
      { patternProperties: Object.fromEntries(range(500).map((name) => [`^(${name}|x)+$`, {}])) },
      Object.fromEntries(range(20_000).map((name) => [name, 1])),
    ],
  ])('gives up on %s within bounds', (_, schema, value) => {
    const started = performance.now();
    expect(check(schema, value)).toEqual([]);
    expect(performance.now() - started).toBeLessThan(5_000);
  });

  it('compiles a schema near its bounds in bearable time', () => {
    const started = performance.now();
    const branches = { type: 'string', minLength: 1, anyOf: [{ maxLength: 3 }, { type: 'null' }] };
    const schema = { properties: Object.fromEntries(range(490).map((name) => [name, branches])) };
    expect(check(schema, { v1: 'long text' })).toHaveLength(1);
    expect(performance.now() - started).toBeLessThan(5_000);
  });

  it('bounds the depth of arguments', () => {
    const deep = (levels: number) => JSON.parse('['.repeat(levels) + ']'.repeat(levels)) as unknown;
    expect(check({}, { a: deep(199) })).toEqual([]);
    expect(check({}, { a: deep(5_000) })).toEqual([
      { path: 'arguments', message: 'must not be nested more than 200 levels deep' },
    ]);
  });

  it('is not touched by __proto__ in data or schema', () => {
    const schema = JSON.parse(
      '{"properties":{"__proto__":{"type":"string"},"a":{"type":"string"}},"additionalProperties":false}',
    );
    const problems = check(schema, JSON.parse('{"__proto__":{"polluted":true},"a":"x"}'));
    expect(problems.map(({ path }) => path)).toEqual(['arguments.__proto__']);
    expect(({} as Schema).polluted).toBeUndefined();
  });
});

function fan(depth: number): Schema {
  const links = Array.from({ length: depth }, (_, at) => {
    const next = { $ref: `#/$defs/d${at + 1}` };
    return [`d${at}`, { anyOf: [next, next] }] as const;
  });
  return { ...Object.fromEntries(links), [`d${depth}`]: { anyOf: [false, false] } };
}

function range(count: number): string[] {
  return Array.from({ length: count }, (_, at) => `v${at}`);
}

describe('SchemaCompiler', () => {
  it('compiles a definition once', () => {
    const compiler = new SchemaCompiler();
    const first = compiler.forDefinition('hash', property({ type: 'string' }));
    expect(compiler.forDefinition('hash', property({ type: 'string' }))).toBe(first);
    expect(compiler.forDefinition('other', property({ type: 'string' }))).not.toBe(first);
  });
});
