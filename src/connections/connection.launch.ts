import type { LearnedEra, Lifecycle, SessionScope, Transport } from '../database.schema.js';
import type { Redactor } from '../redactor.js';

/** How to start a stdio provider; secrets are opened. */
export interface StdioLaunch {
  transport: 'stdio';
  command: string;
  args: string[];
  cwd: string | null;
  environment: Record<string, string>;
}

/** How to reach an HTTP provider; secrets are opened. */
export interface HttpLaunch {
  transport: 'http';
  /** The saved URL with the secret query parameters added. */
  url: string;
  headers: Record<string, string>;
}

/**
 * Everything a session needs to know of a connection, read at one moment. Holds opened secrets: it is never logged,
 * answered or kept longer than the session.
 */
export interface ConnectionLaunch {
  id: string;
  name: string;
  transport: Transport;
  enabled: boolean;
  lifecycle: Lifecycle;
  launchRevision: number;
  connectTimeoutMs: number;
  callTimeoutMs: number;
  maxConcurrentCalls: number;
  maxResultChars: number;
  sessionScope: SessionScope;
  maxSessions: number;
  sealsValues: boolean;
  era: LearnedEra | null;
  endpoint: StdioLaunch | HttpLaunch;
  /** Masks every stored secret of the connection, and Warren's own. */
  redactor: Redactor;
}
