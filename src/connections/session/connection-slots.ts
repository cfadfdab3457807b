import { Slots } from '../../slots.js';
import type { ConnectionLaunch } from '../connection.launch.js';
import { abortError } from './provider-session.js';

/** `maxConcurrentCalls`, per connection. A changed bound counts for those who come after the change. */
export class ConnectionSlots {
  private readonly slots = new Map<string, { size: number; slots: Slots }>();

  /** Errors: `SessionError` timeout or cancelled when the signal aborts first. */
  async take(launch: ConnectionLaunch, signal: AbortSignal): Promise<() => void> {
    let entry = this.slots.get(launch.id);
    if (entry?.size !== launch.maxConcurrentCalls) {
      entry = { size: launch.maxConcurrentCalls, slots: new Slots(launch.maxConcurrentCalls) };
      this.slots.set(launch.id, entry);
    }
    try {
      return await entry.slots.take(signal);
    } catch {
      throw abortError(signal, 'no');
    }
  }

  forget(connectionId: string): void {
    this.slots.delete(connectionId);
  }
}
