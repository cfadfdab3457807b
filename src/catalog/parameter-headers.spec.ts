import { describe, expect, it } from '@jest/globals';
import { mirroredParameters } from './mirrored-parameters.js';
import { parameterHeaders } from './parameter-headers.js';

const mirrored = (header: unknown, type: unknown = 'string') => ({ type, 'x-mcp-header': header });
const withProperties = (properties: Record<string, unknown>) => ({ type: 'object', properties });

describe('mirroredParameters', () => {
  it('finds annotated parameters at any depth of properties', () => {
    const schema = withProperties({
      region: mirrored('Region'),
      plain: { type: 'string' },
      deep: withProperties({ 'x-mcp-header': mirrored("A!#$%&'*+-.^_`|~9", 'boolean'), n: mirrored('N', 'integer') }),
    });
    expect(mirroredParameters(schema)).toEqual({
      parameters: expect.arrayContaining([
        { path: ['region'], header: 'Region' },
        { path: ['deep', 'x-mcp-header'], header: "A!#$%&'*+-.^_`|~9" },
        { path: ['deep', 'n'], header: 'N' },
      ]),
    });
  });

  it.each<[string, Record<string, unknown>]>([
    ['an empty name', withProperties({ a: mirrored('') })],
    ['a name with a line break', withProperties({ a: mirrored('Bad\r\nName') })],
    ['a name with a blank', withProperties({ a: mirrored('Bad Name') })],
    ['a name that is not ASCII', withProperties({ a: mirrored('Région') })],
    ['a name that is no string', withProperties({ a: mirrored(7) })],
    ['null', withProperties({ a: mirrored(null) })],
    ['a name used twice, in any case', withProperties({ a: mirrored('Same'), b: mirrored('sAME') })],
    ['a number', withProperties({ a: mirrored('A', 'number') })],
    ['an object', withProperties({ a: { ...withProperties({}), 'x-mcp-header': 'A' } })],
    ['several types', withProperties({ a: mirrored('A', ['string', 'null']) })],
    ['no type', withProperties({ a: { 'x-mcp-header': 'A' } })],
    ['the root', { ...withProperties({}), 'x-mcp-header': 'A' }],
    ['items of a list', withProperties({ a: { type: 'array', items: mirrored('A') } })],
    ['an alternative', { anyOf: [withProperties({ a: mirrored('A') })] }],
    ['a condition', { ...withProperties({}), if: withProperties({ a: mirrored('A') }) }],
    ['a definition', { ...withProperties({ a: { $ref: '#/$defs/a' } }), $defs: { a: mirrored('A') } }],
    ['below a negation', withProperties({ a: { not: withProperties({ b: mirrored('B') }) } })],
  ])('refuses %s', (_name, schema) => {
    expect(mirroredParameters(schema)).toEqual({ problem: expect.stringContaining('x-mcp-header') });
    expect(parameterHeaders(schema, { a: 'x', b: 'x' })).toEqual({});
  });

  it('takes no data for a schema', () => {
    const schema = withProperties({ a: { type: 'object', default: mirrored(''), enum: [mirrored('')], vendor: [{}] } });
    expect(mirroredParameters(schema)).toEqual({ parameters: [] });
  });

  it('walks schemas however deep', () => {
    let schema: Record<string, unknown> = withProperties({ a: mirrored('A') });
    for (let depth = 0; depth < 2_000; depth += 1) schema = withProperties({ down: schema });
    expect(mirroredParameters(schema)).toMatchObject({ parameters: [{ header: 'A' }] });
  });
});

describe('parameterHeaders', () => {
  const schema = withProperties({
    text: mirrored('Text'),
    count: mirrored('Count', 'integer'),
    flag: mirrored('Flag', 'boolean'),
    deep: withProperties({ region: mirrored('Region') }),
    toString: mirrored('Inherited'),
  });

  // the encodings are the examples of the specification
  it.each([
    ['us-west1', 'us-west1'],
    ['two words\tand a tab', 'two words\tand a tab'],
    ['Hello, 世界', '=?base64?SGVsbG8sIOS4lueVjA==?='],
    [' padded ', '=?base64?IHBhZGRlZCA=?='],
    ['line1\nline2', '=?base64?bGluZTEKbGluZTI=?='],
    ['=?base64?literal?=', '=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?='],
    ['=?base64?', '=?base64?'],
    ['x\r\nX-Evil: 1', '=?base64?eA0KWC1FdmlsOiAx?='],
    ['\u0000', '=?base64?AA==?='],
    ['', '=?base64??='],
  ])('carries %j as %j', (text, header) => {
    expect(parameterHeaders(schema, { text })).toEqual({ 'Mcp-Param-Text': header });
  });

  it('writes integers and booleans in words', () => {
    expect(parameterHeaders(schema, { count: -7, flag: false })).toEqual({
      'Mcp-Param-Count': '-7',
      'Mcp-Param-Flag': 'false',
    });
  });

  it('reads the value at the exact path', () => {
    expect(parameterHeaders(schema, { region: 'top', deep: { region: 'here' } })).toEqual({
      'Mcp-Param-Region': 'here',
    });
    expect(parameterHeaders(schema, { deep: 'here' })).toEqual({});
  });

  it.each([{}, { text: null }, { text: ['x'] }, { text: {} }, { count: 1.5 }, { count: 2 ** 53 }])(
    'makes none of %j',
    (args) => {
      expect(parameterHeaders(schema, args)).toEqual({});
    },
  );
});
