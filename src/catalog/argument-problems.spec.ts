import { describe, expect, it } from '@jest/globals';
import { compileSchema } from './schema-compiler.js';

function problems(schema: Record<string, unknown>, value: unknown): string[] {
  const compiled = compileSchema(schema);
  if ('unchecked' in compiled) throw new Error(compiled.unchecked);
  return compiled.validate(value).map(({ path, message }) => `${path}: ${message}`);
}

const property = (schema: unknown) => ({ type: 'object', properties: { a: schema } });

describe('problems of arguments', () => {
  it.each<[Record<string, unknown>, unknown, string[]]>([
    [{ type: 'object' }, 'text', ['arguments: must be object, not string']],
    [{ type: 'object' }, [], ['arguments: must be object, not array']],
    [{ required: ['owner', 'repo'] }, {}, ['arguments.owner: is required', 'arguments.repo: is required']],
    [property({ enum: ['open', 'closed'] }), { a: 'shut' }, ['arguments.a: must be one of: open, closed']],
    [property({ const: 'x' }), { a: 'y' }, ['arguments.a: must be x']],
    [property({ type: ['string', 'null'] }), { a: 1 }, ['arguments.a: must be string or null, not number']],
    [{ ...property({}), additionalProperties: false }, { b: 1 }, ['arguments.b: unknown property; known: a']],
    [{ ...property({}), unevaluatedProperties: false }, { b: 1 }, ['arguments.b: unknown property; known: a']],
    [{ additionalProperties: false }, { b: 1 }, ['arguments.b: unknown property']],
    [property({ minLength: 3 }), { a: 'x' }, ['arguments.a: must have at least 3 characters']],
    [property({ maxItems: 1 }), { a: [1, 2] }, ['arguments.a: must have at most 1 items']],
    [property({ minimum: 1 }), { a: 0 }, ['arguments.a: must be at least 1']],
    [property({ exclusiveMaximum: 1 }), { a: 1 }, ['arguments.a: must be less than 1']],
    [property({ multipleOf: 5 }), { a: 7 }, ['arguments.a: must be a multiple of 5']],
    [property({ uniqueItems: true }), { a: [1, 1] }, ['arguments.a: must not hold the same item twice']],
    [property({ not: {} }), { a: 1 }, ['arguments.a: does not satisfy "not" of the schema']],
    [property(false), { a: 1 }, ['arguments.a: is not allowed']],
    [property({ items: { required: ['n'] } }), { a: [{ n: 1 }, {}] }, ['arguments.a[1].n: is required']],
    [
      { additionalProperties: { type: 'string' } },
      { 'odd "name"/~': 1 },
      ['arguments["odd \\"name\\"/~"]: must be string, not number'],
    ],
  ])('%j with %j', (schema, value, expected) => {
    expect(problems(schema, value)).toEqual(expected);
  });

  it.each<[string, unknown, unknown, string[]]>([
    [
      'of a nullable string',
      { anyOf: [{ type: 'string' }, { type: 'null' }] },
      1,
      ['arguments.a: must match one of: string, null'],
    ],
    [
      'that was clearly meant',
      { anyOf: [{ type: 'object', required: ['id'] }, { type: 'null' }] },
      {},
      ['arguments.a.id: is required'],
    ],
    [
      'chosen by a fixed member',
      {
        oneOf: [
          { properties: { kind: { const: 'page' }, page: { type: 'number' } }, required: ['kind', 'page'] },
          { properties: { kind: { const: 'all' }, limit: { type: 'number' } }, required: ['kind', 'limit'] },
        ],
      },
      { kind: 'all' },
      ['arguments.a.limit: is required'],
    ],
    [
      'among objects',
      { anyOf: [{ required: ['id'] }, { required: ['slug', 'team'] }] },
      {},
      ['arguments.a: must match one of: {id}, {slug, team}'],
    ],
    [
      'of which several match',
      { oneOf: [{ type: 'number' }, { minimum: 1 }] },
      2,
      ['arguments.a: must match exactly one of the allowed forms, and matches several'],
    ],
    [
      'without a short description',
      { anyOf: [{ minimum: 5 }, { maximum: 1 }] },
      3,
      ['arguments.a: must match one of the allowed forms of the schema'],
    ],
  ])('names the alternative %s', (_, schema, value, expected) => {
    expect(problems(property(schema), { a: value })).toEqual(expected);
  });

  it('finds the alternative behind a reference', () => {
    const schema = {
      properties: { a: { anyOf: [{ $ref: '#/$defs/Page' }, { type: 'null' }] } },
      $defs: { Page: { type: 'object', required: ['id'] } },
    };
    expect(problems(schema, { a: {} })).toEqual(['arguments.a.id: is required']);
  });

  it('says at most ten things', () => {
    const required = Array.from({ length: 30 }, (_, at) => `p${at}`);
    expect(problems({ required }, {})).toHaveLength(10);
  });

  it('bounds long lists and long names', () => {
    const values = Array.from({ length: 500 }, (_, at) => `${at}${'v'.repeat(500)}`);
    const [message = ''] = problems({ ...property({ enum: values }) }, { a: 'x' });
    expect(message.length).toBeLessThan(1_500);
    expect(message).toContain('(480 more)');
    const [long = ''] = problems({ additionalProperties: false }, { ['n'.repeat(5_000)]: 1 });
    expect(long.length).toBeLessThan(400);
  });

  it('never repeats a value that was given', () => {
    const secret = 'hunter2hunter2';
    const schema = {
      properties: {
        a: { enum: ['x'] },
        b: { const: 'x' },
        c: { pattern: '^x$' },
        d: { type: 'number' },
        e: { maxLength: 3 },
        f: { anyOf: [{ const: 'x' }, { const: 'y' }] },
        g: { items: { type: 'number' } },
        h: { not: { type: 'string' } },
      },
    };
    const value = { a: secret, b: secret, c: secret, d: secret, e: secret, f: secret, g: [secret], h: secret };
    const told = problems(schema, value);
    expect(told).toHaveLength(8);
    expect(told.join('\n')).not.toContain('hunter2');
  });
});
