import { describe, expect, it } from '@jest/globals';
import { holds, mayUse, operatorScopes, type OperatorScope, type Principal, type RouteAccess } from './principal.js';

const operator = (...scopes: OperatorScope[]): Principal => ({
  kind: 'operator',
  credentialId: 'key000000001',
  name: null,
  scopes,
});
const agent: Principal = { kind: 'agent', credentialId: 'token0000001', agentId: 'alpha' };

const every: RouteAccess[] = ['public', 'read', 'write', 'launch', 'write-or-launch', 'admin', 'agent', 'mcp'];

/** What each single scope opens, beside `public`. */
const opened: Record<OperatorScope, RouteAccess[]> = {
  read: ['read'],
  write: ['read', 'write', 'write-or-launch', 'agent'],
  launch: ['read', 'launch', 'write-or-launch'],
  decide: ['read'],
  admin: ['read', 'write', 'launch', 'write-or-launch', 'admin', 'agent'],
};

describe('mayUse', () => {
  it.each(operatorScopes)('opens exactly what scope %s is for', (scope) => {
    const open = every.filter((access) => mayUse(operator(scope), access));
    expect(open.toSorted()).toEqual(['public', ...opened[scope]].toSorted());
  });

  it('opens nothing but public routes to a key without scopes', () => {
    expect(every.filter((access) => mayUse(operator(), access))).toEqual(['public']);
  });

  it('opens to an agent /mcp and its own menu only', () => {
    expect(every.filter((access) => mayUse(agent, access, 'alpha'))).toEqual(['public', 'agent', 'mcp']);
    expect(every.filter((access) => mayUse(agent, access, 'beta'))).toEqual(['public', 'mcp']);
    expect(mayUse(agent, 'agent')).toBe(false);
  });
});

describe('holds', () => {
  it('counts admin as every scope, and gives an agent none', () => {
    expect(operatorScopes.every((scope) => holds(operator('admin'), scope))).toBe(true);
    expect(holds(operator('write'), 'launch')).toBe(false);
    expect(holds(operator('launch'), 'write')).toBe(false);
    expect(operatorScopes.some((scope) => holds(agent, scope))).toBe(false);
  });
});
