import { LineTooLong, Slots } from '../../slots.js';
import type { ConnectionLaunch } from '../connection.launch.js';
import { abortError } from './provider-session.js';
import { SessionError } from './session-error.js';

/**
 * `maxConcurrentCalls`, per connection; those who wait are served in turn by agent. A changed bound counts for those who
 * come after the change.
 */
export class ConnectionSlots {
  private readonly slots = new Map<string, { size: number; slots: Slots }>();

  /** `agentId` is null for Warren's own operations. Errors: `SessionError` busy, or timeout or cancelled when the signal aborts. */
  async take(launch: ConnectionLaunch, agentId: string | null, signal: AbortSignal): Promise<() => void> {
    let entry = this.slots.get(launch.id);
    if (entry?.size !== launch.maxConcurrentCalls) {
      entry = { size: launch.maxConcurrentCalls, slots: new Slots(launch.maxConcurrentCalls) };
      this.slots.set(launch.id, entry);
    }
    try {
      return await entry.slots.take(agentId ?? '', signal);
    } catch (error) {
      if (!(error instanceof LineTooLong)) throw abortError(signal, 'no');
      throw new SessionError('busy', 'Too many calls wait for this connection.', { cause: error });
    }
  }

  forget(connectionId: string): void {
    this.slots.delete(connectionId);
  }
}
