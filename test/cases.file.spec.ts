import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { caseIds, parseCase, readCase } from './cases.file.js';

const file = (fields: object) => ({ id: '99-x', transport: 'stdio', expectResult: {}, ...fields });

describe('the cases', () => {
  it('are all run by a spec', () => {
    const specs = readdirSync('test').filter((name) => /^cases\..*\.e2e-spec\.ts$/.test(name));
    const sources = specs.map((name) => readFileSync(`test/${name}`, 'utf8')).join('\n');
    const run = new Set([...sources.matchAll(/(?:number: |odd = readCase\()'(\d\d)'/g)].map(([, number]) => number));
    expect(run).toEqual(new Set(caseIds().map((id) => id.slice(0, 2))));
    expect(run.size).toBe(47);
  });

  it('are all read', () => {
    for (const id of caseIds()) expect(readCase(id.slice(0, 2)).id).toBe(id);
  });

  it.each([
    ['of its own', { expectedResult: {} }],
    ['of its launch', { launch: { arguments: [] } }],
    ['of its expectations', { expectResult: { discovers: {} } }],
    ['of its discovery', { expectResult: { discover: { minTools: 1 } } }],
    ['of its log', { expectResult: { log: { minCount: {} } } }],
    ['of its processes', { expectResult: { processes: { aliveMs: 1 } } }],
    ['of a call', { call: { tool: 'x', agent: 'y' } }],
    ['of an expected call', { call: { tool: 'x' }, expectResult: { call: { outcome: ['ok'], textStarts: '' } } }],
  ])('fail for an unknown field %s', (_where, fields) => {
    expect(() => parseCase('99-x', file(fields))).toThrow(/unknown fields/);
  });

  it('fail for an unknown outcome, and when calls and expectations differ in number', () => {
    const calls = [{ tool: 'x' }, { tool: 'y' }];
    expect(() => parseCase('99-x', file({ calls, expectResult: { call: { outcome: ['ok'] } } }))).toThrow(/2 calls/);
    const odd = { call: { tool: 'x' }, expectResult: { call: { outcome: ['fine'] } } };
    expect(() => parseCase('99-x', file(odd))).toThrow(/no outcome fine/);
  });
});
