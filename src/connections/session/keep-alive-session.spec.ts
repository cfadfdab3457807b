import { describe, expect, it } from '@jest/globals';
import type { ConnectionLaunch } from '../connection.launch.js';
import { KeepAliveSession } from './keep-alive-session.js';
import type { ProviderSession } from './provider-session.js';
import { SessionListeners } from './session-listeners.js';
import type { SessionOpener } from './session-opener.js';

const never = (): Promise<never> => new Promise<never>(() => undefined);

/** A session that never ends being ended. */
const endless = {
  isOpen: true,
  identity: { era: 'legacy' },
  onToolsChanged: () => undefined,
  closed: never(),
  close: never,
} as unknown as ProviderSession;

const launch = (fields: Partial<ConnectionLaunch>) =>
  ({ id: 'line', launchRevision: 1, connectTimeoutMs: 50, maxConcurrentCalls: 1, ...fields }) as ConnectionLaunch;

describe('KeepAliveSession', () => {
  async function ending() {
    const opener = { open: () => Promise.resolve(endless) } as unknown as SessionOpener;
    const session = new KeepAliveSession('line', opener, new SessionListeners(), 60_000);
    const use = (signal: AbortSignal, fields: Partial<ConnectionLaunch> = {}) =>
      session.use(launch(fields), null, { signal, timeoutMs: 1_000 }, () => Promise.resolve('done'));
    expect(await use(new AbortController().signal)).toBe('done');
    return { session, use };
  }

  it('waits for the end of the session before no longer than a start may take', async () => {
    const { session, use } = await ending();
    void session.stop();
    await expect(use(new AbortController().signal)).rejects.toMatchObject({ kind: 'busy' });
    await expect(use(new AbortController().signal, { launchRevision: 2 })).rejects.toMatchObject({ kind: 'busy' });
  });

  it('lets a caller leave who waits for it', async () => {
    const { session, use } = await ending();
    void session.stop();
    const controller = new AbortController();
    const waiting = use(controller.signal, { connectTimeoutMs: 60_000 });
    controller.abort();
    await expect(waiting).rejects.toMatchObject({ kind: 'cancelled', sent: 'no' });
  });
});
