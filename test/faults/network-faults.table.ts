import type { ExchangeFault } from '../support/fault-connection.js';

export interface FaultCase {
  code: 'mcp_call_timeout' | 'mcp_call_interrupted' | 'mcp_provider_unreachable';
  reason?: 'connection_refused';
  sent: 'no' | 'maybe';
  /** How often the call reaches the provider. */
  arrivals: 0 | 1;
}

/** What a caller is told about a call that meets the fault; a timeout at its deadline, all others at once. */
export const faultCases: Record<ExchangeFault | 'refuse', FaultCase> = {
  'swallow-request': { code: 'mcp_call_timeout', sent: 'maybe', arrivals: 0 },
  'swallow-answer': { code: 'mcp_call_timeout', sent: 'maybe', arrivals: 1 },
  'drip-answer': { code: 'mcp_call_timeout', sent: 'maybe', arrivals: 1 },
  'reset-request': { code: 'mcp_call_interrupted', sent: 'maybe', arrivals: 0 },
  'reset-answer': { code: 'mcp_call_interrupted', sent: 'maybe', arrivals: 1 },
  'cut-event': { code: 'mcp_call_interrupted', sent: 'maybe', arrivals: 1 },
  refuse: { code: 'mcp_provider_unreachable', reason: 'connection_refused', sent: 'no', arrivals: 0 },
};
