import { describe, expect, it } from '@jest/globals';
import { flagsOf, maskedParts, valueProblem } from './secret-values.js';

describe('valueProblem', () => {
  it.each(['header', 'api_key'] as const)('takes for a %s what RFC 9110 allows in a field value', (kind) => {
    for (let code = 0; code <= 0x17f; code += 1) {
      const allowed = code === 0x09 || (code >= 0x20 && code <= 0x7e) || (code >= 0x80 && code <= 0xff);
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

describe('flagsOf', () => {
  it.each<[string, string[]]>([
    ['', []],
    ['1234567', ['short']],
    ['12345678', []],
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

  it('masks other values as they are', () => {
    expect(maskedParts('header', 'X-Key', 'Bearer abc')).toEqual(['Bearer abc']);
    expect(maskedParts('environment', 'Authorization', 'Bearer abc')).toEqual(['Bearer abc']);
    expect(maskedParts('header', 'Authorization', 'abc')).toEqual(['abc']);
  });
});
