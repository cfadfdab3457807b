import { describe, expect, it } from '@jest/globals';
import { type CallFacts, type Decision, decide } from './decision.js';

const ALLOW: Decision = { allow: true };
const UNKNOWN_CALLER: Decision = { allow: false, code: 'unauthenticated' };
const NO_PROVIDER: Decision = { allow: false, code: 'mcp_provider_not_available', mayTellDisabled: false };
const DISABLED: Decision = { allow: false, code: 'mcp_provider_not_available', mayTellDisabled: true };
const NO_TOOL: Decision = { allow: false, code: 'mcp_tool_not_found' };
const NO_GRANT: Decision = { allow: false, code: 'mcp_tool_not_granted' };

const VIEWS = [
  { visibility: 'all', holdsGrantOnProvider: false },
  { visibility: 'all', holdsGrantOnProvider: true },
  { visibility: 'granted', holdsGrantOnProvider: false },
  { visibility: 'granted', holdsGrantOnProvider: true },
] as const;

/** For a caller in good standing: provider enabled, tool listed, granted; then the decision in each view, in order. */
const TABLE: [string, Decision[]][] = [
  ['000', [NO_PROVIDER, DISABLED, NO_PROVIDER, DISABLED]],
  ['001', [DISABLED, DISABLED, DISABLED, DISABLED]],
  ['010', [NO_PROVIDER, DISABLED, NO_PROVIDER, DISABLED]],
  ['011', [DISABLED, DISABLED, DISABLED, DISABLED]],
  ['100', [NO_TOOL, NO_TOOL, NO_PROVIDER, NO_TOOL]],
  ['101', [NO_TOOL, NO_TOOL, NO_TOOL, NO_TOOL]],
  ['110', [NO_GRANT, NO_GRANT, NO_PROVIDER, NO_TOOL]],
  ['111', [ALLOW, ALLOW, ALLOW, ALLOW]],
];

interface Case {
  name: string;
  facts: CallFacts;
  expected: Decision;
}

function cases(): Case[] {
  return ['00', '01', '10', '11'].flatMap((standing) =>
    TABLE.flatMap(([bits, decisions]) =>
      VIEWS.map((view, index) => ({
        name: `${standing}${bits} ${view.visibility}${view.holdsGrantOnProvider ? ' with another grant there' : ''}`,
        facts: {
          credentialValid: standing[0] === '1',
          agentEnabled: standing[1] === '1',
          providerEnabled: bits[0] === '1',
          toolListed: bits[1] === '1',
          granted: bits[2] === '1',
          ...view,
        },
        expected: standing === '11' ? (decisions[index] ?? ALLOW) : UNKNOWN_CALLER,
      })),
    ),
  );
}

describe('the decision about a call', () => {
  it('covers every combination once', () => {
    expect(new Set(cases().map(({ facts }) => JSON.stringify(facts))).size).toBe(2 ** 5 * VIEWS.length);
  });

  it.each(cases())('$name', ({ facts, expected }) => {
    expect(decide(facts)).toEqual(expected);
  });

  it('allows in one case only: all five facts hold', () => {
    const allowed = cases().filter(({ facts }) => decide(facts).allow);
    expect(allowed).toHaveLength(VIEWS.length);
    for (const { facts } of allowed) expect(Object.values(facts)).toEqual(expect.arrayContaining([true, true, true]));
  });
});
