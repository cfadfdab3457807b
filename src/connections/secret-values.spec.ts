import { describe, expect, it } from '@jest/globals';
import { bareKey, flagsOf, maskedParts, valueProblem } from './secret-values.js';

describe('valueProblem', () => {
  it.each([
    { kind: 'header', last: 0xff },
    { kind: 'api_key', last: 0x7e },
  ] as const)('takes for a $kind what RFC 9110 allows in a field value, for a key within ASCII', ({ kind, last }) => {
    for (let code = 0; code <= 0x17f; code += 1) {
      const allowed = code === 0x09 || (code >= 0x20 && code !== 0x7f && code <= last);
      const problem = valueProblem(kind, `a${String.fromCharCode(code)}b`);
      expect([code, problem === undefined]).toEqual([code, allowed]);
    }
  });

  it.each(['header', 'api_key'] as const)(
    'refuses blanks at the edges of a %s, which a receiver would drop',
    (kind) => {
      expect(valueProblem(kind, ' key')).toMatch(/blank/);
      expect(valueProblem(kind, 'key\t')).toMatch(/blank/);
    },
  );

  it('lets a query parameter hold line breaks and any character', () => {
    expect(valueProblem('query_parameter', ' a\r\n…🙂')).toBeUndefined();
  });
});

describe('bareKey', () => {
  it.each([
    ['key-1', 'key-1'],
    ['Bearer key-1', 'key-1'],
    ['bearer  key-1', 'key-1'],
    ['Bearer', 'Bearer'],
    ['Bearerkey', 'Bearerkey'],
    ['Basic key-1', 'Basic key-1'],
  ])('of %j is %j', (given, key) => {
    expect(bareKey(given)).toBe(key);
  });
});

describe('flagsOf', () => {
  it.each<[string, string[]]>([
    ['', []],
    ['1234567', ['short']],
    ['12345678', []],
    [' 1234567 ', ['short']],
    ['${A}', ['placeholder', 'short']],
    ['Bearer ${input:token}', ['placeholder']],
    ['$HOME/{x}/${}', []],
  ])('notes of %j: %j', (value, flags) => {
    expect(flagsOf(value)).toEqual(flags);
  });
});

describe('maskedParts', () => {
  it('masks the credentials of an Authorization header apart from its scheme', () => {
    expect(maskedParts('header', 'authorization', 'Bearer abc.def')).toEqual(['Bearer abc.def', 'abc.def']);
    const basic = Buffer.from('user:pass:word').toString('base64');
    expect(maskedParts('header', 'Authorization', `Basic ${basic}`)).toEqual([
      `Basic ${basic}`,
      basic,
      'user:pass:word',
      'pass:word',
    ]);
  });

  it.each([
    ['X-Auth', 'Bearer abc', ['abc']],
    ['X-Auth', 'token   abc', ['abc']],
    ['X-Auth', 'Api-Key abc', ['abc']],
    ['Cookie', 'session=abc', ['abc']],
    ['cookie', 'a=b=c; __Host-d="e f" ;g', ['b=c', 'e f', 'g']],
  ])('masks what a provider takes out of a header %s: %s', (name, value, parts) => {
    expect(maskedParts('header', name, value)).toEqual([value, ...parts]);
  });

  it('masks other values as they are', () => {
    expect(maskedParts('header', 'X-Key', 'ab cde')).toEqual(['ab cde']);
    expect(maskedParts('header', 'X-Key', 'abc; d=efg')).toEqual(['abc; d=efg']);
    expect(maskedParts('environment', 'Authorization', 'Bearer abc')).toEqual(['Bearer abc']);
    expect(maskedParts('header', 'Authorization', 'abc')).toEqual(['abc']);
  });
});
