import { Injectable } from '@nestjs/common';
import type { LastKnown } from '../../database.schema.js';
import type { ProviderFailureReason } from '../../provider-failure.js';
import type { ConnectionLaunch } from '../connection.launch.js';
import type { ProviderIdentity } from './provider-session.js';

export type SessionTransition = { status: LastKnown['status']; reason?: ProviderFailureReason };

/** Those who want to hear of sessions register here at composition; each listener deals with its own errors. */
@Injectable()
export class SessionListeners {
  /** A lasting session changed its state. */
  onTransition: (connectionId: string, transition: SessionTransition) => void = () => undefined;
  /** A provider was seen to speak an era: another than remembered, or the memory is not fresh. */
  eraLearned: (connectionId: string, identity: ProviderIdentity) => void = () => undefined;
  /** The settings of a connection as they are now, for a session that comes back by itself; undefined: it is gone. */
  currentLaunch: (connectionId: string) => Promise<ConnectionLaunch | undefined> = () => Promise.resolve(undefined);
  /** Resolves when what was told so far is written down. */
  recorded: () => Promise<void> = () => Promise.resolve();
  /** A provider said that its tools changed. */
  onToolsChanged: (connectionId: string) => void = () => undefined;
}
