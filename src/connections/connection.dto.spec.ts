import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import { plainToInstance } from 'class-transformer';
import { validateSync, type ValidationError } from 'class-validator';
import { ChangeConnectionBody, CreateConnectionBody } from './connection.dto.js';

function paths(errors: ValidationError[], parent = ''): string[] {
  return errors.flatMap(({ property, children = [], constraints }) => {
    const path = parent === '' ? property : `${parent}.${property}`;
    return [...(constraints === undefined ? [] : [path]), ...paths(children, path)];
  });
}

const problems = (body: object, type: new () => object = CreateConnectionBody): string[] =>
  paths(validateSync(plainToInstance(type, body), { whitelist: true, forbidNonWhitelisted: true }));

const valid = { name: 'n', transport: 'stdio', command: 'node' };

describe('a connection as sent', () => {
  it.each<[string, object, string]>([
    ['no name', { name: undefined }, 'name'],
    ['an empty name', { name: '' }, 'name'],
    ['a blank name', { name: ' \u00a0 ' }, 'name'],
    ['a name with a control character', { name: 'a\u0007b' }, 'name'],
    ['a name with an unpaired surrogate', { name: 'a\ud800' }, 'name'],
    ['a long name', { name: 'x'.repeat(121) }, 'name'],
    ['a null name', { name: null }, 'name'],
    ['another transport', { transport: 'sse' }, 'transport'],
    ['an id with a slash', { id: 'a/b' }, 'id'],
    ['an empty id', { id: '' }, 'id'],
    ['a long id', { id: 'x'.repeat(97) }, 'id'],
    ['a long command', { command: 'x'.repeat(241) }, 'command'],
    ['a command of two lines', { command: 'a\nb' }, 'command'],
    ['args that are no list', { args: 'x' }, 'args'],
    ['a long URL', { baseUrl: `https://a.example/${'x'.repeat(2_040)}` }, 'baseUrl'],
    ['a timeout of zero', { callTimeoutMs: 0 }, 'callTimeoutMs'],
    ['a timeout over the bound', { connectTimeoutMs: 300_001 }, 'connectTimeoutMs'],
    ['a fraction', { callTimeoutMs: 1.5 }, 'callTimeoutMs'],
    ['a number as text', { callTimeoutMs: '5' }, 'callTimeoutMs'],
    ['too many calls', { maxConcurrentCalls: 65 }, 'maxConcurrentCalls'],
    ['a small result', { maxResultChars: 999 }, 'maxResultChars'],
    ['a large result', { maxResultChars: 10_000_001 }, 'maxResultChars'],
    ['too many sessions', { maxSessions: 65 }, 'maxSessions'],
    ['enabled as text', { enabled: 'yes' }, 'enabled'],
    ['another lifecycle', { lifecycle: 'forever' }, 'lifecycle'],
    ['a variable with a hyphen', { environmentVariables: [{ name: 'A-B', value: '' }] }, 'environmentVariables.0.name'],
    [
      'a variable beginning with a digit',
      { environmentVariables: [{ name: '1A', value: '' }] },
      'environmentVariables.0.name',
    ],
    ['a variable with a NUL', { environmentVariables: [{ name: 'A', value: 'a\0' }] }, 'environmentVariables.0.value'],
    ['a header name with a blank', { headers: [{ name: 'X Y', value: 'v' }] }, 'headers.0.name'],
    ['a header name with a line break', { headers: [{ name: 'X\r\nY', value: 'v' }] }, 'headers.0.name'],
    ['a header value that is a number', { headers: [{ name: 'X', value: 5 }] }, 'headers.0.value'],
    ['a query parameter without a name', { queryParameters: [{ name: '', value: 'v' }] }, 'queryParameters.0.name'],
    ['an unknown field', { timeout: 5 }, 'timeout'],
    ['an empty tool name', { allowTools: [''] }, 'allowTools'],
    ['auth as text', { auth: 'oauth' }, 'auth'],
  ])('is refused with %s', (_what, change, path) => {
    expect([...new Set(problems({ ...valid, ...change }))]).toEqual([path]);
  });

  it.each<[string, object]>([
    ['the least', {}],
    ['a name with blanks at its edges', { name: ' n ' }],
    ['the longest name and id', { name: 'x'.repeat(120), id: 'x'.repeat(96) }],
    [
      'every bound',
      { callTimeoutMs: 300_000, connectTimeoutMs: 1, maxConcurrentCalls: 64, maxResultChars: 1_000, maxSessions: 1 },
    ],
    [
      'secrets of every kind',
      { args: ['x', { secret: 's', value: 'v' }], environmentVariables: [{ name: '_A1', value: '' }] },
    ],
    ['entries as answered', { headers: [{ name: 'X-Y', configured: true }] }],
    ['empty filters', { allowTools: [], denyTools: null }],
    [
      'null for every default',
      { baseUrl: null, args: null, headers: null, enabled: null, callTimeoutMs: null, auth: null },
    ],
    ['a reserved auth type, refused later', { auth: { type: 'oauth', clientId: 'x' } }],
  ])('is taken with %s', (_what, change) => {
    expect(problems({ ...valid, ...change })).toEqual([]);
  });

  it('is refused with headers as a record', () => {
    expect(problems({ ...valid, headers: { X: 'v' } })).toContain('headers');
  });

  it('may be changed in part', () => {
    expect(problems({}, ChangeConnectionBody)).toEqual([]);
    expect(problems({ id: 'a', transport: 'http', callTimeoutMs: null }, ChangeConnectionBody)).toEqual([]);
    expect(problems({ name: ' ' }, ChangeConnectionBody)).toEqual(['name']);
  });
});
