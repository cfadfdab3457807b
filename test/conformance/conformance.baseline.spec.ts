import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { judge, type Baseline, type Expectation } from './conformance.baseline.js';
import type { Check, CheckStatus } from './conformance.suite.js';

const ON = ['2025-11-25'];
const PASS: Expectation = { on: ON, expect: 'pass' };
const EXCEPTION: Expectation = { on: ON, unmet: ['a'], because: 'There is no a.' };

function judged(checks: [string, CheckStatus][], expected?: Expectation) {
  const found: Check[] = [['wire-schema-valid', 'SUCCESS'] as const, ...checks].map(([id, status]) => ({ id, status }));
  const scenarios: Baseline['scenarios'] = expected === undefined ? {} : { ping: expected };
  const [[judgement]] = judge([{ scenario: 'ping', version: '2025-11-25', checks: found }], { suite: '1', scenarios });
  return judgement;
}

describe('the conformance baseline', () => {
  it.each<[string, [string, CheckStatus][], Expectation]>([
    ['a pass that passes', [['a', 'SUCCESS']], PASS],
    ['an exception of which nothing is met', [['a', 'FAILURE']], EXCEPTION],
    [
      'an exception of which the rest is met',
      [
        ['a', 'SKIPPED'],
        ['b', 'SUCCESS'],
      ],
      EXCEPTION,
    ],
    ['an exception that checks nothing', [['b', 'INFO']], { on: ON, unmet: [], because: 'It wants a tool.' }],
  ])('accepts %s', (_name, checks, expected) => {
    expect(judged(checks, expected)?.wrong).toBeUndefined();
  });

  it.each<[string, [string, CheckStatus][], Expectation | undefined, RegExp]>([
    [
      'a pass that fails',
      [
        ['a', 'FAILURE'],
        ['b', 'SUCCESS'],
      ],
      PASS,
      /is to pass, but: a/,
    ],
    [
      'a pass with a warning',
      [
        ['a', 'WARNING'],
        ['b', 'SUCCESS'],
      ],
      PASS,
      /is to pass, but: a/,
    ],
    ['a pass that checks nothing', [['a', 'INFO']], PASS, /nothing was checked/],
    [
      'an id that is met once and once not',
      [
        ['a', 'SUCCESS'],
        ['a', 'FAILURE'],
      ],
      PASS,
      /is to pass, but: a/,
    ],
    ['an exception that passes', [['a', 'SUCCESS']], EXCEPTION, /passes, but/],
    [
      'an exception with more unmet',
      [
        ['a', 'FAILURE'],
        ['b', 'FAILURE'],
      ],
      EXCEPTION,
      /more than the baseline says: b/,
    ],
    ['an exception with fewer unmet', [['c', 'INFO']], EXCEPTION, /meets what the baseline excepts: a/],
    ['a scenario that is not listed', [['a', 'SUCCESS']], undefined, /not in the baseline/],
    ['a version that is not listed', [['a', 'SUCCESS']], { ...PASS, on: ['2026-07-28'] }, /not in the baseline/],
  ])('refuses %s', (_name, checks, expected, words) => {
    expect(judged(checks, expected)?.wrong).toMatch(words);
  });

  it('tells what is listed and was not run', () => {
    expect(judge([], { suite: '1', scenarios: { ping: PASS } })).toEqual([[], ['ping on 2025-11-25']]);
  });

  it('names the installed version of the suite, and a reason for every exception', () => {
    const read = (file: string): unknown => JSON.parse(readFileSync(path.resolve('test/conformance', file), 'utf8'));
    const { suite, scenarios } = read('baseline.json') as Baseline;
    const { devDependencies } = read('package.json') as { devDependencies: Record<string, string> };
    expect(suite).toBe(devDependencies['@modelcontextprotocol/conformance']);
    const exceptions = Object.values(scenarios).filter((expectation) => 'unmet' in expectation);
    expect(exceptions.filter(({ because }) => !/^[A-Z].{20,}\.$/.test(because))).toEqual([]);
  });
});
