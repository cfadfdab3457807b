import { Inject, Injectable } from '@nestjs/common';
import {
  ProtocolError,
  SdkHttpError,
  type Client,
  type ConnectOptions,
  type FetchLike,
  type Transport,
} from '@modelcontextprotocol/client';
import type { Settings } from '../../config.js';
import { Deadline, untilAborted } from '../../deadline.js';
import { SafeFetch } from '../../safe-fetch.js';
import { SETTINGS } from '../../settings.token.js';
import type { Subprocess } from '../../subprocess.js';
import type { LearnedEra } from '../../database.schema.js';
import type { ConnectionLaunch, HttpLaunch, StdioLaunch } from '../connection.launch.js';
import { HttpTransport } from './http-transport.js';
import { legacySseTransport } from './legacy-sse-transport.js';
import { isTrustedEra } from './learned-era.js';
import { ProviderProcesses } from './provider-processes.js';
import { createClient, ProviderSession, type ProviderIdentity } from './provider-session.js';
import { toOpenError } from './open-error.js';
import { SessionError } from './session-error.js';
import { StdioTransport } from './stdio-transport.js';

/** How long a second start may take after an exit, so that the exit is told within 3 s of it; milliseconds. */
const SECOND_CHANCE_MS = 2_000;

type Negotiation = 'auto' | 'modern' | 'legacy';

/** Opens sessions: launches or dials, then shakes hands in the era the provider speaks. */
@Injectable()
export class SessionOpener {
  constructor(
    private readonly processes: ProviderProcesses,
    private readonly safeFetch: SafeFetch,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /**
   * A ready session, or nothing left behind. The signal bounds the whole start.
   * Errors: `SessionError` unreachable with its reason, or busy.
   */
  async open(launch: ConnectionLaunch, signal: AbortSignal): Promise<ProviderSession> {
    return launch.endpoint.transport === 'stdio'
      ? this.openStdio(launch, launch.endpoint, signal)
      : this.openHttp(launch, launch.endpoint, signal);
  }

  /**
   * Old servers are the rule on stdio and may exit when they see a request before `initialize`, so the old handshake
   * comes first unless the provider is known to be modern; a server that refuses it is asked the other way, in a fresh
   * process.
   */
  private async openStdio(
    launch: ConnectionLaunch,
    endpoint: StdioLaunch,
    signal: AbortSignal,
  ): Promise<ProviderSession> {
    const first: Negotiation = launch.era?.era === 'modern' ? 'modern' : 'legacy';
    try {
      return await this.startStdio(launch, endpoint, first, signal);
    } catch (error) {
      if (!(error instanceof SessionError) || !speaksOtherEra(error, launch.era) || signal.aborted) throw error;
      // most that exit lack a setting, and whoever waits is to hear of the exit, not of a second start that hangs
      const chance = new Deadline(
        error.reason === 'process_exited' ? SECOND_CHANCE_MS : launch.connectTimeoutMs,
        signal,
      );
      try {
        const other: Negotiation = first === 'modern' ? 'legacy' : 'modern';
        return await this.startStdio(launch, endpoint, other, chance.signal);
      } catch {
        // the first refusal holds the provider's own words
        throw error;
      } finally {
        chance.end();
      }
    }
  }

  private async startStdio(
    launch: ConnectionLaunch,
    endpoint: StdioLaunch,
    negotiation: Negotiation,
    signal: AbortSignal,
  ): Promise<ProviderSession> {
    const child = await this.processes.launch(launch, endpoint, signal).catch((error: unknown) => {
      throw toOpenError(error);
    });
    const transport = new StdioTransport(child, this.settings.WARREN_MAX_MESSAGE_BYTES);
    const client = createClient(negotiation);
    try {
      await connect(client, transport, negotiation, signal);
    } catch (error) {
      void child.stop();
      // told to stop, which is no failure of the provider
      if (signal.reason instanceof SessionError) throw signal.reason;
      throw await startFailure(error, child);
    }
    return new ProviderSession(client, transport, child, undefined, identityOf(client));
  }

  private async openHttp(
    launch: ConnectionLaunch,
    endpoint: HttpLaunch,
    signal: AbortSignal,
  ): Promise<ProviderSession> {
    // a session that keeps agents apart has sockets of its own, which end with it
    const isApart = launch.lifecycle === 'keep_alive' && launch.sessionScope === 'agent';
    const owner = isApart ? {} : launch.id;
    const release = (): void => {
      if (isApart) void this.safeFetch.release(owner);
    };
    try {
      const session = await this.negotiate(launch, endpoint, this.safeFetch.fetchFor(owner), signal);
      void session.closed.then(release);
      return session;
    } catch (error) {
      release();
      throw error;
    }
  }

  private async negotiate(
    launch: ConnectionLaunch,
    endpoint: HttpLaunch,
    fetch: FetchLike,
    signal: AbortSignal,
  ): Promise<ProviderSession> {
    const known = launch.era?.era === 'legacy';
    try {
      return await this.dial(endpoint, fetch, known ? 'legacy' : 'auto', signal);
    } catch (error) {
      if (!known || signal.aborted || !refusedEra(error)) throw error;
      // what was learned proves wrong: the provider has been renewed
      return this.dial(endpoint, fetch, 'auto', signal);
    }
  }

  private async dial(
    endpoint: HttpLaunch,
    fetch: FetchLike,
    negotiation: Negotiation,
    signal: AbortSignal,
  ): Promise<ProviderSession> {
    const transport = new HttpTransport(endpoint, fetch);
    const client = createClient(negotiation);
    try {
      await connect(client, transport, negotiation, signal);
      return new ProviderSession(client, transport, undefined, () => transport.terminate(), identityOf(client));
    } catch (error) {
      void transport.close();
      if (!suggestsSse(error) || signal.aborted) throw toOpenError(error, transport.retryAfterMs);
      return this.openSse(endpoint, fetch, error, signal);
    }
  }

  private async openSse(
    endpoint: HttpLaunch,
    fetch: FetchLike,
    earlier: unknown,
    signal: AbortSignal,
  ): Promise<ProviderSession> {
    const transport = legacySseTransport(endpoint, fetch);
    const client = createClient('legacy');
    try {
      await connect(client, transport, 'legacy', signal);
      return new ProviderSession(client, transport, undefined, undefined, identityOf(client));
    } catch {
      void transport.close();
      throw toOpenError(earlier);
    }
  }
}

async function connect(
  client: Client,
  transport: Transport,
  negotiation: Negotiation,
  signal: AbortSignal,
): Promise<void> {
  const options: ConnectOptions = { signal, timeout: 3_600_000 };
  if (negotiation === 'legacy') options.prior = { kind: 'legacy' };
  try {
    await untilAborted(client.connect(transport, options), signal);
  } catch (error) {
    void client.close().catch(() => undefined);
    if (!signal.aborted) throw error;
    if (signal.reason instanceof SessionError) throw signal.reason;
    throw new SessionError('unreachable', 'The provider did not answer the handshake in time.', {
      reason: 'handshake_timeout',
      cause: signal.reason,
    });
  }
}

function identityOf(client: Client): ProviderIdentity {
  const server = client.getServerVersion();
  const discover = client.getDiscoverResult();
  return {
    era: client.getProtocolEra() === 'modern' ? 'modern' : 'legacy',
    protocolVersion: client.getNegotiatedProtocolVersion() ?? null,
    serverName: server?.name ?? null,
    serverVersion: server?.version ?? null,
    ...(discover === undefined ? {} : { discover }),
  };
}

/** The process may have exited: then that is what the operator needs to hear, with its last words. */
async function startFailure(error: unknown, child: Subprocess): Promise<SessionError> {
  const opened = toOpenError(error);
  if (opened.reason === 'handshake_timeout') return withTail(opened, child);
  if (opened.reason !== 'process_exited' && opened.reason !== 'unknown' && opened.kind !== 'interrupted') return opened;
  const { code, signal } = await child.exited;
  const how = signal === null ? `exit code ${code ?? 'unknown'}` : `signal ${signal}`;
  return withTail(
    new SessionError('unreachable', `The provider process ended during its start (${how}).`, {
      reason: 'process_exited',
      cause: error,
    }),
    child,
  );
}

function withTail(error: SessionError, child: Subprocess): SessionError {
  const tail = child.stderrTail();
  return new SessionError(error.kind, error.message, {
    reason: error.reason ?? 'unknown',
    brief: error.brief,
    cause: error,
    ...(tail === '' ? {} : { stderrTail: tail }),
  });
}

/** Some servers exit when they see a handshake they do not know; what was learned lately speaks against that. */
function speaksOtherEra({ reason }: SessionError, era: LearnedEra | null): boolean {
  if (reason === 'protocol_unsupported') return true;
  return reason === 'process_exited' && !isTrustedEra(era);
}

/** A refusal in JSON-RPC: the provider speaks MCP, but not as it was asked. */
function refusedEra(error: unknown): boolean {
  if (!(error instanceof SessionError)) return false;
  const { cause } = error;
  const refusedOverHttp = cause instanceof SdkHttpError && cause.status === 400 && hasModernError(cause);
  return error.reason === 'protocol_unsupported' || refusedOverHttp;
}

/** Only these statuses, and no modern error body, speak for a server of the old SSE transport. */
function suggestsSse(error: unknown): boolean {
  const http = error instanceof SdkHttpError ? error : undefined;
  if (http === undefined || error instanceof ProtocolError) return false;
  if (http.status !== 400 && http.status !== 404 && http.status !== 405) return false;
  return !hasModernError(http);
}

function hasModernError(error: SdkHttpError): boolean {
  return /"jsonrpc"\s*:\s*"2\.0"/.test(bodyOf(error));
}

function bodyOf(error: SdkHttpError): string {
  const { data } = error;
  return typeof data === 'object' && data !== null && 'text' in data && typeof data.text === 'string' ? data.text : '';
}
