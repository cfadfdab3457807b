import type { ConnectionLaunch } from '../../src/connections/connection.launch.js';
import { KeepAliveSession } from '../../src/connections/session/keep-alive-session.js';
import type { LiveStateName } from '../../src/connections/session/live-state.js';
import type { ProviderSession } from '../../src/connections/session/provider-session.js';
import type { SessionContext } from '../../src/connections/session/session-context.js';
import { SessionError } from '../../src/connections/session/session-error.js';
import { SessionListeners } from '../../src/connections/session/session-listeners.js';
import { StartGuard } from '../../src/connections/session/start-guard.js';

/** A session that breaks, stays silent or never ends on command. */
export class FakeSession {
  isOpen = true;
  isLost = false;
  closings = 0;
  pings = 0;
  alive = true;
  identity = { era: 'legacy' };
  closed: Promise<void>;
  break!: () => void;

  constructor(private readonly closes: boolean) {
    this.closed = new Promise((resolve) => {
      this.break = () => {
        this.isOpen = false;
        resolve();
      };
    });
  }

  onToolsChanged(): void {}

  ping(): Promise<void> {
    this.pings += 1;
    return this.alive
      ? Promise.resolve()
      : Promise.reject(new SessionError('unreachable', 'gone', { reason: 'connection_refused' }));
  }

  close(): Promise<void> {
    this.closings += 1;
    this.break();
    return this.closes ? Promise.resolve() : new Promise<never>(() => undefined);
  }

  retire(): Promise<void> {
    return this.close();
  }
}

interface Options {
  closes?: boolean;
  fails?: () => SessionError | undefined;
  current?: Partial<ConnectionLaunch> | null;
}

export const launchOf = (fields: Partial<ConnectionLaunch> = {}) =>
  ({
    id: 'line',
    enabled: true,
    lifecycle: 'keep_alive',
    transport: 'http',
    launchRevision: 1,
    connectTimeoutMs: 50,
    maxConcurrentCalls: 1,
    ...fields,
  }) as ConnectionLaunch;

/** A lasting session over fake ones, and the states it went through. */
export function actor({ closes = true, fails = () => undefined, current = {} }: Options = {}) {
  const opened: FakeSession[] = [];
  const states: LiveStateName[] = ['idle'];
  const guard = new StartGuard();
  const listeners = new SessionListeners();
  listeners.onTransition = () => void states.push(session.state.state);
  listeners.currentLaunch = () => Promise.resolve(current === null ? undefined : launchOf(current));
  const context: SessionContext = {
    connectionId: 'line',
    listeners,
    opener: {
      open: () => {
        const failure = fails();
        if (failure !== undefined) return Promise.reject(failure);
        const created = new FakeSession(closes);
        opened.push(created);
        return Promise.resolve(created as unknown as ProviderSession);
      },
    },
    timing: {
      idleMs: 600_000,
      warmEveryMs: 180_000,
      reconnect: { attempts: 5, firstMs: 500, mostMs: 8_000, stableMs: 60_000 },
    },
    guardOf: () => guard,
    noteEra: () => undefined,
  };
  const session = new KeepAliveSession(context);
  const use = (fields: Partial<ConnectionLaunch> = {}, signal = new AbortController().signal) =>
    session.use(launchOf(fields), 'agent', { signal, timeoutMs: 1_000 }, () => Promise.resolve('done'));
  return { session, opened, states, use };
}

/** The session opened last. */
export const last = (opened: readonly FakeSession[]): FakeSession => {
  const session = opened.at(-1);
  if (session === undefined) throw new Error('nothing was opened');
  return session;
};
