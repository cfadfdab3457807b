import type { ProviderFailureReason } from '../../provider-failure.js';

export const liveStates = ['idle', 'connecting', 'connected', 'error', 'closed'] as const;
export type LiveStateName = (typeof liveStates)[number];

/** What this process itself knows of a connection's session. */
export interface LiveState {
  state: LiveStateName;
  /** RFC 3339. */
  since: string;
  reason?: ProviderFailureReason;
  /** Provider processes of this connection, for stdio. */
  processes?: { pid: number; since: string }[];
}
