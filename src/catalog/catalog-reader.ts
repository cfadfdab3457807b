import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { ConnectionLaunch } from '../connections/connection.launch.js';
import { ConnectionsService } from '../connections/connections.service.js';
import { abortError, type ProviderIdentity, type ProviderSession } from '../connections/session/provider-session.js';
import { SessionError } from '../connections/session/session-error.js';
import { SessionManager } from '../connections/session/session-manager.js';
import { Deadline } from '../deadline.js';
import { readToolPages, type ToolPages } from './tool-page-reader.js';

/** A listing that failed for a passing reason is tried again this often, this far apart (milliseconds). */
const RETRIES = 3;
const RETRY_DELAY_MS = 300;
const METHOD_NOT_FOUND = -32_601;
/** Failures of an open link that a new one may not have. */
const PASSING_REASONS = new Set(['http_error', 'connection_refused', 'connection_unreachable']);

export interface CatalogReading {
  identity: ProviderIdentity;
  /** Whether parameters of its tools travel in HTTP headers as well. */
  mirrorsParameters: boolean;
  /** Undefined when the provider has no tool list at all. */
  pages: ToolPages | undefined;
}

/** Reads the whole tool list of a provider through a session. */
@Injectable()
export class CatalogReader {
  constructor(
    private readonly sessions: SessionManager,
    private readonly connections: ConnectionsService,
  ) {}

  /**
   * Takes at most twice the connection's `connectTimeoutMs`, retries included: once for the start of the session, once
   * for the list. Only a listing that broke is tried again, never one that ran out of time.
   * Errors: `SessionError`, `CatalogLimitError`, `CatalogProtocolError`.
   */
  async read(launch: ConnectionLaunch, signal: AbortSignal): Promise<CatalogReading> {
    const deadline = new Deadline(2 * launch.connectTimeoutMs, signal);
    try {
      for (let retries = 0; ; retries += 1) {
        const attempt = await this.attempt(launch, deadline.signal);
        if (!('failure' in attempt)) return attempt;
        if (retries === RETRIES || !isPassing(attempt.failure)) throw attempt.failure;
        await delay(RETRY_DELAY_MS, undefined, { signal: deadline.signal }).catch(() => {
          throw abortError(deadline.signal, 'no');
        });
        // a change of the settings ends sessions too; what was saved before it must not be launched again
        if (!(await this.isCurrent(launch))) throw attempt.failure;
      }
    } finally {
      deadline.end();
    }
  }

  /** Whether the connection is enabled and its launch settings are still these. */
  async isCurrent({ id, launchRevision }: ConnectionLaunch): Promise<boolean> {
    const current = (await this.connections.launchStates([id])).get(id);
    return current?.enabled === true && current.launchRevision === launchRevision;
  }

  /** `failure` is what the listing threw; a session that cannot be had throws by itself and is not tried again. */
  private attempt(launch: ConnectionLaunch, signal: AbortSignal): Promise<CatalogReading | { failure: unknown }> {
    const bounds = { signal, timeoutMs: launch.connectTimeoutMs };
    return this.sessions.use(launch, null, bounds, async (session, listing) => {
      try {
        const { identity, mirrorsParameters } = session;
        return { identity, mirrorsParameters, pages: await listTools(session, listing) };
      } catch (error) {
        return { failure: withTail(error, session.stderrTail()) };
      }
    });
  }
}

async function listTools(session: ProviderSession, signal: AbortSignal): Promise<ToolPages | undefined> {
  let asked = 0;
  try {
    return await readToolPages((cursor) => {
      asked += 1;
      return session.listTools(cursor, { signal });
    });
  } catch (error) {
    const unsupported = error instanceof SessionError && error.provider?.code === METHOD_NOT_FOUND && asked === 1;
    if (unsupported) return undefined;
    throw error;
  }
}

function isPassing(failure: unknown): boolean {
  if (!(failure instanceof SessionError)) return false;
  return (
    failure.kind === 'interrupted' || (failure.kind === 'unreachable' && PASSING_REASONS.has(failure.reason ?? ''))
  );
}

function withTail(error: unknown, tail: string): unknown {
  if (!(error instanceof SessionError) || tail === '') return error;
  const { kind, message, reason, sent, provider } = error;
  return new SessionError(kind, message, {
    ...(reason === undefined ? {} : { reason }),
    ...(provider === undefined ? {} : { provider }),
    sent,
    stderrTail: tail,
    cause: error,
  });
}
