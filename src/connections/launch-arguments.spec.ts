import { describe, expect, it } from '@jest/globals';
import { parseArguments } from './launch-arguments.js';

describe('parseArguments', () => {
  it('takes texts and secrets apart, each in its place', () => {
    const parsed = parseArguments([
      '--token',
      { secret: 'token', value: 's3' },
      '',
      'a\nb',
      { secret: 'other', configured: true },
    ]);
    expect(parsed.args).toEqual(['--token', { secret: 'token' }, '', 'a\nb', { secret: 'other' }]);
    expect(parsed.secrets).toEqual([
      { name: 'token', position: 1, path: 'args[1].value', value: 's3' },
      { name: 'other', position: 4, path: 'args[4].value' },
    ]);
    expect(parsed.problems).toEqual([]);
  });

  it.each<[string, unknown, string]>([
    ['a number', 1, 'args[0]'],
    ['null', null, 'args[0]'],
    ['a list', ['x'], 'args[0]'],
    ['an object without secret', { value: 'hunter2' }, 'args[0].secret'],
    ['an empty name', { secret: '' }, 'args[0].secret'],
    ['a name with a control character', { secret: 'a\nb' }, 'args[0].secret'],
    ['a name that is too long', { secret: 'x'.repeat(129) }, 'args[0].secret'],
    ['a value that is no text', { secret: 'a', value: 1 }, 'args[0].value'],
    ['a text that is too long', 'x'.repeat(2_001), 'args[0]'],
    ['a value that is too long', { secret: 'a', value: 'hunter2'.repeat(300) }, 'args[0].value'],
    ['a NUL', 'hunter2\0', 'args[0]'],
    ['a NUL in a value', { secret: 'a', value: 'hunter2\0' }, 'args[0].value'],
    ['an unpaired surrogate', 'hunter2\udfff', 'args[0]'],
  ])('refuses %s', (_what, element, path) => {
    const { problems } = parseArguments([element]);
    expect(problems.map((problem) => problem.path)).toEqual([path]);
    expect(JSON.stringify(problems)).not.toContain('hunter2');
  });

  it('takes a text of exactly the bound', () => {
    expect(parseArguments(['x'.repeat(2_000)]).problems).toEqual([]);
  });

  it('refuses one name twice', () => {
    const { problems } = parseArguments([
      { secret: 'a', value: '1' },
      { secret: 'a', value: '2' },
    ]);
    expect(problems.map(({ path }) => path)).toEqual(['args[1].secret']);
  });
});
