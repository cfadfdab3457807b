import { LineTooLong, Slots } from '../../slots.js';
import type { ConnectionLaunch } from '../connection.launch.js';
import { abortError } from './provider-session.js';
import { SessionError } from './session-error.js';

/** The places for operations on one session; those who wait are served in turn by agent. */
export class CallSlots {
  private readonly slots = new Slots(1);

  /**
   * One of `maxConcurrentCalls` places; the bound read last is the one that counts. `agentId` is null for Warren's own
   * operations. Resolves with the function that gives the place back. Errors: `SessionError` busy, or timeout or
   * cancelled when the signal aborts.
   */
  async take(
    { maxConcurrentCalls }: ConnectionLaunch,
    agentId: string | null,
    signal: AbortSignal,
  ): Promise<() => void> {
    this.slots.resize(maxConcurrentCalls);
    try {
      return await this.slots.take(agentId ?? '', signal);
    } catch (error) {
      if (!(error instanceof LineTooLong)) throw abortError(signal, 'no');
      throw new SessionError('busy', 'Too many calls wait for this connection.', { cause: error });
    }
  }
}
