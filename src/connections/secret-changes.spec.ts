import { describe, expect, it } from '@jest/globals';
import type { SecretKind } from '../database.schema.js';
import { ProblemError } from '../errors.js';
import type { SecretMark } from './connection.record.js';
import { planSecrets, requireSecretsForOrigin, type SecretFields, type SecretPlan } from './secret-changes.js';

const mark = (kind: SecretKind, name: string, position = 0): SecretMark => ({ kind, name, position, flags: [] });
const stored = [
  mark('api_key', 'apiKey'),
  mark('header', 'X-One'),
  mark('header', 'X-Two', 1),
  mark('query_parameter', 'sig'),
  mark('environment', 'A'),
  mark('environment', 'B', 1),
  mark('argument', 'token', 2),
];

/** A plan as `kind name` lists, so that a row of a table shows it. */
function shown(plan: SecretPlan): { keep: string[]; set: string[]; remove: string[] } {
  return {
    keep: plan.keep.map(({ kind, name, position }) => `${kind} ${name} @${position}`),
    set: plan.set.map(({ kind, name, position, value }) => `${kind} ${name} @${position}=${value}`),
    remove: plan.remove.map(({ kind, name }) => `${kind} ${name}`),
  };
}

function problemOf(work: () => unknown): ProblemError {
  try {
    work();
  } catch (error) {
    if (error instanceof ProblemError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

const only = (kind: SecretKind) => stored.filter((one) => one.kind === kind);

const cases: [string, SecretKind, SecretFields, Partial<ReturnType<typeof shown>>][] = [
  [
    'leaves environmentVariables alone when left out',
    'environment',
    {},
    { keep: ['environment A @0', 'environment B @1'] },
  ],
  [
    'replaces the set, keeping an entry without value and deleting one left out',
    'environment',
    { environmentVariables: [{ name: 'C', value: 'new' }, { name: 'B' }] },
    { keep: ['environment B @1'], set: ['environment C @0=new'], remove: ['environment A'] },
  ],
  [
    'overwrites a stored variable, also with an empty value',
    'environment',
    { environmentVariables: [{ name: 'A', value: '' }, { name: 'B' }] },
    { keep: ['environment B @1'], set: ['environment A @0='] },
  ],
  [
    'deletes all for an empty set',
    'environment',
    { environmentVariables: [] },
    { remove: ['environment A', 'environment B'] },
  ],
  [
    'deletes all for null',
    'environment',
    { environmentVariables: null },
    { remove: ['environment A', 'environment B'] },
  ],
  [
    'takes a value of null for one left out',
    'environment',
    { environmentVariables: [{ name: 'A', value: null }] },
    { keep: ['environment A @0'], remove: ['environment B'] },
  ],
  ['leaves headers alone when left out', 'header', {}, { keep: ['header X-One @0', 'header X-Two @1'] }],
  [
    'knows a header by its name in any case, and keeps the stored spelling',
    'header',
    { headers: [{ name: 'x-two' }] },
    { keep: ['header X-Two @0'], remove: ['header X-One'] },
  ],
  [
    'replaces a header that is supplied in another spelling',
    'header',
    { headers: [{ name: 'x-one', value: 'v' }, { name: 'X-Two' }] },
    { keep: ['header X-Two @1'], set: ['header x-one @0=v'], remove: ['header X-One'] },
  ],
  ['leaves queryParameters alone when left out', 'query_parameter', {}, { keep: ['query_parameter sig @0'] }],
  [
    'replaces query parameters',
    'query_parameter',
    { queryParameters: [{ name: 'Sig', value: 's' }] },
    { set: ['query_parameter Sig @0=s'], remove: ['query_parameter sig'] },
  ],
  ['leaves the API key alone when left out', 'api_key', {}, { keep: ['api_key apiKey @0'] }],
  ['leaves the API key alone when blank', 'api_key', { apiKey: '' }, { keep: ['api_key apiKey @0'] }],
  ['leaves the API key alone when only blanks', 'api_key', { apiKey: ' \t' }, { keep: ['api_key apiKey @0'] }],
  ['clears the API key for null', 'api_key', { apiKey: null }, { remove: ['api_key apiKey'] }],
  ['replaces the API key', 'api_key', { apiKey: 'k2' }, { set: ['api_key apiKey @0=k2'] }],
];

describe('planSecrets', () => {
  it.each(cases)('%s', (_what, kind, fields, expected) => {
    expect(shown(planSecrets(only(kind), fields, undefined))).toEqual({ keep: [], set: [], remove: [], ...expected });
  });

  it('keeps, sets and removes secret arguments like the others', () => {
    const placed = (name: string, position: number, value?: string) => ({
      name,
      position,
      path: `args[${position}].value`,
      ...(value === undefined ? {} : { value }),
    });
    const held = only('argument');
    expect(shown(planSecrets(held, {}, undefined)).keep).toEqual(['argument token @2']);
    expect(shown(planSecrets(held, {}, [placed('token', 0)])).keep).toEqual(['argument token @0']);
    expect(shown(planSecrets(held, {}, [placed('other', 1, 'v')]))).toEqual({
      keep: [],
      set: ['argument other @1=v'],
      remove: ['argument token'],
    });
    expect(problemOf(() => planSecrets(held, {}, [placed('other', 1)])).errors?.[0]?.path).toBe('args[1].value');
  });

  it('touches no other kind', () => {
    const plan = shown(planSecrets(stored, { headers: [] }, undefined));
    expect(plan.remove).toEqual(['header X-One', 'header X-Two']);
    expect(plan.keep).toHaveLength(5);
  });

  it('takes a blank API key of a new connection for none', () => {
    expect(shown(planSecrets([], { apiKey: ' ' }, undefined))).toEqual({ keep: [], set: [], remove: [] });
  });

  it.each([
    [
      'environmentVariables',
      { environmentVariables: [{ name: 'A' }, { name: 'NEW' }] },
      'environmentVariables[1].value',
    ],
    ['headers', { headers: [{ name: 'X-New' }] }, 'headers[0].value'],
    ['queryParameters', { queryParameters: [{ name: 'SIG' }] }, 'queryParameters[0].value'],
  ])('demands a value for %s where none is stored', (_field, fields, path) => {
    const problem = problemOf(() => planSecrets(stored, fields, undefined));
    expect([problem.code, problem.errors?.map((one) => one.path)]).toEqual(['secret_value_required', [path]]);
  });

  it.each<[string, SecretFields, string]>([
    ['an empty header', { headers: [{ name: 'X', value: '' }] }, 'headers[0].value'],
    ['an empty query parameter', { queryParameters: [{ name: 'q', value: '' }] }, 'queryParameters[0].value'],
    ['a header with a line break', { headers: [{ name: 'X', value: 'hunter2\r\nY: z' }] }, 'headers[0].value'],
    ['an API key with a line break', { apiKey: 'hunter2\n' }, 'apiKey'],
    ['a header beyond Latin-1', { headers: [{ name: 'X', value: 'hunter2…' }] }, 'headers[0].value'],
    [
      'a NUL in a variable',
      { environmentVariables: [{ name: 'A', value: 'hunter2\0' }] },
      'environmentVariables[0].value',
    ],
    ['an unpaired surrogate', { queryParameters: [{ name: 'q', value: 'hunter2\ud800' }] }, 'queryParameters[0].value'],
  ])('refuses %s, naming the field and never the value', (_what, fields, path) => {
    const problem = problemOf(() => planSecrets(stored, fields, undefined));
    expect([problem.code, problem.errors?.map((one) => one.path)]).toEqual(['validation_failed', [path]]);
    expect(JSON.stringify([problem.detail, problem.errors])).not.toContain('hunter2');
  });

  it('takes a variable of several lines', () => {
    const value = '-----BEGIN KEY-----\nabc\r\n-----END KEY-----\n';
    expect(planSecrets([], { environmentVariables: [{ name: 'PEM', value }] }, undefined).set[0]?.value).toBe(value);
  });
});

describe('requireSecretsForOrigin', () => {
  const http = stored.filter(({ kind }) => !['environment', 'argument'].includes(kind));
  const move = (after: string | null, fields: SecretFields, before = 'https://one.example/mcp') =>
    requireSecretsForOrigin(before, after, planSecrets(http, fields, undefined));
  const all: SecretFields = {
    apiKey: 'new-key',
    headers: [
      { name: 'X-One', value: 'a' },
      { name: 'X-Two', value: 'b' },
    ],
    queryParameters: [],
  };

  it.each([
    ['another path', 'https://one.example/other?x=1'],
    ['the default port written out', 'https://one.example:443/mcp'],
    ['the host in capitals', 'HTTPS://ONE.example/mcp'],
  ])('lets secrets stay for %s', (_what, url) => {
    expect(() => move(url, {})).not.toThrow();
  });

  it.each([
    ['another host', 'https://two.example/mcp'],
    ['another scheme', 'http://one.example/mcp'],
    ['another port', 'https://one.example:8443/mcp'],
    ['a subdomain', 'https://www.one.example/mcp'],
  ])('demands every secret anew for %s', (_what, url) => {
    const problem = problemOf(() => move(url, {}));
    expect(problem.code).toBe('secrets_required_for_new_origin');
    expect(problem.errors?.map(({ path }) => path)).toEqual(['apiKey', 'headers', 'headers', 'queryParameters']);
    expect(() => move(url, all)).not.toThrow();
    expect(() => move(url, { apiKey: null, headers: null, queryParameters: null })).not.toThrow();
  });

  it.each<[string, SecretFields, string]>([
    ['the API key', { ...all, apiKey: '' }, 'apiKey'],
    ['one header', { ...all, headers: [{ name: 'x-one' }, { name: 'X-Two', value: 'b' }] }, 'headers'],
    ['a query parameter', { apiKey: all.apiKey ?? null, headers: all.headers ?? null }, 'queryParameters'],
  ])('notices that only %s would follow', (_what, fields, path) => {
    expect(problemOf(() => move('https://two.example', fields)).errors?.map((one) => one.path)).toEqual([path]);
  });

  it('asks for nothing where nothing is stored', () => {
    expect(() =>
      requireSecretsForOrigin('https://a.example', 'https://b.example', planSecrets([], {}, [])),
    ).not.toThrow();
  });
});
