import type { Redactor } from './redactor.js';

/** Operator scopes, as stored and documented. */
export const operatorScopes = ['read', 'write', 'launch', 'decide', 'admin'] as const;
export type OperatorScope = (typeof operatorScopes)[number];

interface Presented {
  /** Masks the token that was presented. */
  redactor?: Redactor;
}

export interface OperatorPrincipal extends Presented {
  kind: 'operator';
  credentialId: string;
  name: string | null;
  scopes: readonly OperatorScope[];
}

export interface AgentPrincipal extends Presented {
  kind: 'agent';
  credentialId: string;
  agentId: string;
  /** When a token of an authorization server ends; one of Warren's own is looked up instead. */
  expiresAt?: Date;
}

/** Who a request comes from, once its token was checked. */
export type Principal = OperatorPrincipal | AgentPrincipal;

/**
 * What a route needs. `agent` is the menu: that agent's own token, or an operator's `write`. `write-or-launch` is a
 * change of connections: which of the two it takes depends on what is changed, so the handler asks `holds` as well.
 */
export type RouteAccess = 'public' | 'read' | 'write' | 'launch' | 'write-or-launch' | 'admin' | 'agent' | 'mcp';

/**
 * Whether a principal may use a route; pure.
 * `admin` opens everything to operators; `write`, `launch` and `decide` include `read`; an agent token opens `/mcp` and
 * its own menu only.
 */
export function mayUse(principal: Principal, access: RouteAccess, agentId?: string): boolean {
  if (access === 'public') return true;
  if (principal.kind === 'agent') {
    return access === 'mcp' || (access === 'agent' && principal.agentId === agentId);
  }
  switch (access) {
    case 'mcp':
      return false;
    case 'read':
      return principal.scopes.length > 0;
    case 'agent':
      return holds(principal, 'write');
    case 'write-or-launch':
      return holds(principal, 'write') || holds(principal, 'launch');
    default:
      return holds(principal, access);
  }
}

/** True when an operator holds a scope, or `admin`. */
export function holds(principal: Principal | { kind: 'command' | 'environment' }, scope: OperatorScope): boolean {
  return principal.kind === 'operator' && (principal.scopes.includes(scope) || principal.scopes.includes('admin'));
}

/** When a principal that is not looked up loses its standing; null for all others. */
export function expiryOf(principal: Principal): Date | null {
  return principal.kind === 'agent' ? (principal.expiresAt ?? null) : null;
}
