import type { ConnectionLaunch } from '../connection.launch.js';
import type { ProviderIdentity } from './provider-session.js';
import type { QuietTiming } from './quiet-timers.js';
import type { ReconnectTiming } from './reconnect-budget.js';
import type { SessionListeners } from './session-listeners.js';
import type { SessionOpener } from './session-opener.js';
import type { StartGuard } from './start-guard.js';

export interface SessionTiming extends QuietTiming {
  reconnect: ReconnectTiming;
}

/** What the sessions of one connection have in common. */
export interface SessionContext {
  readonly connectionId: string;
  readonly opener: Pick<SessionOpener, 'open'>;
  readonly listeners: SessionListeners;
  readonly timing: SessionTiming;
  /** The guard of these launch settings, or of newer ones. */
  guardOf(launch: ConnectionLaunch): StartGuard;
  /** A session is ready, and nobody uses it. */
  onQuiet(): void;
  /** Remembers the protocol era a provider was seen to speak. */
  noteEra(launch: ConnectionLaunch, identity: ProviderIdentity): void;
}
