import type { AgentVisibility } from '../database.schema.js';

/** All that decides whether one call may run, read together at one moment. */
export interface CallFacts {
  /** The token or key exists, has not expired and may act for this agent. */
  credentialValid: boolean;
  agentEnabled: boolean;
  /** False also for a provider that does not exist. */
  providerEnabled: boolean;
  /** The exact name is in the stored catalog and not hidden by a filter. */
  toolListed: boolean;
  /** The agent holds the grant of exactly this provider and tool. */
  granted: boolean;
  visibility: AgentVisibility;
  /** The agent holds any grant on this provider; a grant implies that the provider exists. */
  holdsGrantOnProvider: boolean;
}

export type Decision =
  | { allow: true }
  /** The caller has no standing at all: it hears what a caller with an unknown token hears. */
  | { allow: false; code: 'unauthenticated' }
  /** `mayTellDisabled`: the answer may say that the provider exists and is disabled. */
  | { allow: false; code: 'mcp_provider_not_available'; mayTellDisabled: boolean }
  | { allow: false; code: 'mcp_tool_not_found' | 'mcp_tool_not_granted' };

/**
 * May this call run? Pure. The first missing thing decides, in the order credential, agent, provider, tool, grant.
 * An agent with visibility `granted` cannot tell what it has no grant for from what does not exist: neither a provider
 * nor a tool.
 */
export function decide(facts: CallFacts): Decision {
  if (!facts.credentialValid || !facts.agentEnabled) return { allow: false, code: 'unauthenticated' };
  const knowsProvider = facts.granted || facts.holdsGrantOnProvider;
  const sees = (known: boolean): boolean => facts.visibility === 'all' || known;
  if (!facts.providerEnabled || !sees(knowsProvider)) {
    return { allow: false, code: 'mcp_provider_not_available', mayTellDisabled: knowsProvider };
  }
  if (!facts.toolListed || !sees(facts.granted)) return { allow: false, code: 'mcp_tool_not_found' };
  return facts.granted ? { allow: true } : { allow: false, code: 'mcp_tool_not_granted' };
}
