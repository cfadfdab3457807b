import type { ConnectionLaunch } from '../../src/connections/connection.launch.js';
import { ConnectionSessions } from '../../src/connections/session/connection-sessions.js';
import { KeepAliveSession } from '../../src/connections/session/keep-alive-session.js';
import type { LiveStateName } from '../../src/connections/session/live-state.js';
import type { ProviderSession } from '../../src/connections/session/provider-session.js';
import type { SessionAgent } from '../../src/connections/session/session-agent.js';
import type { SessionContext, SessionTiming } from '../../src/connections/session/session-context.js';
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

const timing: SessionTiming = {
  idleMs: 600_000,
  warmEveryMs: 180_000,
  reconnect: { attempts: 5, firstMs: 500, mostMs: 8_000, stableMs: 60_000 },
};

/** Opens fake sessions and remembers them. */
function fakeOpener({ closes = true, fails = () => undefined }: Options) {
  const opened: FakeSession[] = [];
  const open: SessionContext['opener']['open'] = () => {
    const failure = fails();
    if (failure !== undefined) return Promise.reject(failure);
    const created = new FakeSession(closes);
    opened.push(created);
    return Promise.resolve(created as unknown as ProviderSession);
  };
  return { opened, opener: { open } };
}

/** A lasting session over fake ones, and the states it went through. */
export function actor(options: Options = {}) {
  const { current = {} } = options;
  const { opened, opener } = fakeOpener(options);
  const states: LiveStateName[] = ['idle'];
  const guard = new StartGuard();
  const listeners = new SessionListeners();
  listeners.onTransition = () => void states.push(session.state.state);
  listeners.currentLaunch = () => Promise.resolve(current === null ? undefined : launchOf(current));
  const context: SessionContext = {
    connectionId: 'line',
    listeners,
    opener,
    timing,
    guardOf: () => guard,
    onQuiet: () => undefined,
    noteEra: () => undefined,
  };
  const session = new KeepAliveSession(context);
  const use = (
    fields: Partial<ConnectionLaunch> = {},
    signal = new AbortController().signal,
    operation: () => Promise<string> = () => Promise.resolve('done'),
  ) => session.use(launchOf(fields), 'agent', { signal, timeoutMs: 1_000 }, operation);
  return { session, opened, states, use };
}

/** All sessions of a connection, over fake ones. */
export function connectionSessions(options: Options = {}) {
  const { opened, opener } = fakeOpener(options);
  const sessions = new ConnectionSessions('line', opener, new SessionListeners(), timing);
  const use = (
    agent: SessionAgent | null,
    fields: Partial<ConnectionLaunch> = {},
    operation: () => Promise<string> = () => Promise.resolve('done'),
  ) => {
    const bounds = { signal: new AbortController().signal, timeoutMs: 1_000 };
    return sessions.use(launchOf({ era: null, maxSessions: 8, ...fields }), agent, bounds, operation);
  };
  return { sessions, opened, use };
}

/** The session opened last. */
export const last = (opened: readonly FakeSession[]): FakeSession => {
  const session = opened.at(-1);
  if (session === undefined) throw new Error('nothing was opened');
  return session;
};
