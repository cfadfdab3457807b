import { describe, expect, it } from '@jest/globals';
import type { LastKnown } from '../database.schema.js';
import { Logger } from '../logger.js';
import { OwnSecrets } from '../own-secrets.js';
import { ConnectionEvents } from './connection-events.service.js';
import { ConnectionsService } from './connections.service.js';
import { SessionListeners } from './session/session-listeners.js';
import { SessionRecorder } from './session-recorder.js';

/** A recorder whose database is away until it is told otherwise. */
function recorder() {
  const listeners = new SessionListeners();
  const written: string[] = [];
  let back = (): void => undefined;
  const away = new Promise<void>((resolve) => (back = resolve));
  const connections = Object.create(ConnectionsService.prototype) as ConnectionsService;
  connections.recordLastKnown = async (id: string, { status }: LastKnown) => {
    await away;
    written.push(`${id} ${status}`);
  };
  const events = Object.create(ConnectionEvents.prototype) as ConnectionEvents;
  events.record = () => Promise.resolve();
  const logger = new Logger('info', new OwnSecrets([]), () => undefined);
  const made = new SessionRecorder(listeners, connections, events, logger);
  made.onModuleInit();
  return { listeners, recorder: made, written, back: () => back() };
}

describe('the session recorder', () => {
  it('writes each transition, in order', async () => {
    const { listeners, recorder: made, written, back } = recorder();
    listeners.onTransition('a', { status: 'starting' });
    listeners.onTransition('b', { status: 'starting' });
    listeners.onTransition('a', { status: 'ready' });
    back();
    await made.flush();
    expect(written).toEqual(['a starting', 'b starting', 'a ready']);
  });

  it('ends with the latest state of each connection, however many were told while the database was away', async () => {
    const { listeners, recorder: made, written, back } = recorder();
    for (let turn = 0; turn < 2_000; turn += 1) {
      listeners.onTransition('flapping', { status: 'starting' });
      listeners.onTransition('flapping', { status: 'ready' });
    }
    listeners.onTransition('late', { status: 'starting' });
    listeners.onTransition('flapping', { status: 'stopped' });
    listeners.onTransition('late', { status: 'unavailable', reason: 'process_exited' });
    back();
    await made.flush();
    expect(written.findLast((line) => line.startsWith('flapping'))).toBe('flapping stopped');
    expect(written.findLast((line) => line.startsWith('late'))).toBe('late unavailable');
    expect(written.length).toBeLessThan(1_100);
    listeners.onTransition('late', { status: 'ready' });
    await made.flush();
    expect(written.at(-1)).toBe('late ready');
  });
});
