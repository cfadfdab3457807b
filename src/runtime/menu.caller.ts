import type { Principal } from '../principal.js';

export interface MenuProgress {
  progress: number;
  total?: number;
  message?: string;
}

/** Who uses the menu, and how to reach them while a call runs. */
export interface MenuCaller {
  /** The agent's own token, or an operator key with `write`. */
  principal: Principal;
  /** Whose menu it is. */
  agentId: string;
  requestId: string;
  /** Aborts when the caller goes away or cancels; that cancels the call at the provider. */
  signal: AbortSignal;
  /** Given only when the caller asked for progress. */
  onProgress?: (progress: MenuProgress) => void;
}
