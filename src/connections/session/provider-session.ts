import {
  Client,
  type SdkHttpError,
  SUPPORTED_PROTOCOL_VERSIONS,
  type Progress,
  type StandardSchemaV1,
} from '@modelcontextprotocol/client';
import { setTimeout as delay } from 'node:timers/promises';
import type { LearnedEra } from '../../database.schema.js';
import { Deadline, DeadlinePassed, untilAborted } from '../../deadline.js';
import { withDispatchGate, type DispatchGate } from '../../dispatch-gate.js';
import type { Subprocess } from '../../subprocess.js';
import { version } from '../../version.js';
import type { ProviderTransport } from './expected-replies.js';
import { ProgressRelay } from './progress-relay.js';
import { toRequestError } from './request-error.js';
import { type Sent, SessionError, SessionLostError } from './session-error.js';
import { mayTellOfLoss, showsLoss, tellsOfLoss } from './session-loss.js';
import { isSignOfLife } from './sign-of-life.js';
import { StdioTransport } from './stdio-transport.js';

/** The SDK keeps its own timer per request; ours always rings first. */
const SDK_TIMEOUT_MS = 3_600_000;
/** How long a remote provider may take to hear that its session is over, milliseconds. */
const TERMINATE_MS = 1_000;
/** How long a call that was refused may wait to learn whether the session is at fault, milliseconds. */
const ASK_MS = 1_000;

/** Accepts any result as it is: providers are judged by our own readers, one tool and one block at a time. */
const anyResult: StandardSchemaV1<unknown, unknown> = {
  '~standard': { version: 1, vendor: 'warren', validate: (value) => ({ value }) },
};

export type ProgressUpdate = Progress;

export interface ToolCall {
  name: string;
  arguments: Record<string, unknown>;
}

export interface RequestOptions {
  /** Aborting it cancels the request at the provider. */
  signal: AbortSignal;
  onProgress?: ((progress: ProgressUpdate) => void) | undefined;
}

export interface CallOptions extends RequestOptions {
  /** Stands before the first byte of this call. */
  gate: CallGate;
  /** Further HTTP headers of this call; without meaning where the link is no HTTP. */
  headers?: Record<string, string> | undefined;
}

/** What the caller of a gated call decides; `Sent` bookkeeping is the session's. */
export type CallGate = Pick<DispatchGate, 'admit' | 'mayWrite' | 'written' | 'abandoned'>;

/** What a provider said of itself during the handshake. */
export interface ProviderIdentity {
  era: LearnedEra['era'];
  protocolVersion: string | null;
  serverName: string | null;
  serverVersion: string | null;
  discover?: unknown;
}

/** One client for one session: no roots, sampling or elicitation; interaction is refused at once. */
export function createClient(negotiation: 'auto' | 'modern' | 'legacy'): Client {
  const mode = negotiation === 'modern' ? { pin: '2026-07-28' } : negotiation;
  return new Client(
    { name: 'warren', version },
    {
      capabilities: {},
      versionNegotiation: { mode },
      inputRequired: { autoFulfill: false },
      supportedProtocolVersions: SUPPORTED_PROTOCOL_VERSIONS,
      jsonSchemaValidator: {
        getValidator: () => (input: unknown) => ({ valid: true, data: input as never, errorMessage: undefined }),
      },
    },
  );
}

/** A live, initialised link to a provider. */
export class ProviderSession {
  /** Resolves when the link is gone, whoever ended it. */
  readonly closed: Promise<void>;
  /** Why it is not open: the provider forgot it. */
  isLost = false;
  private open = true;
  private requests = 0;
  private retired: (() => void) | undefined;
  private readonly progress: ProgressRelay;

  constructor(
    private readonly client: Client,
    private readonly transport: ProviderTransport,
    private readonly child: Subprocess | undefined,
    private readonly terminate: (() => Promise<void>) | undefined,
    readonly identity: ProviderIdentity,
  ) {
    this.closed = new Promise((resolve) => {
      client.onclose = () => {
        this.open = false;
        resolve();
      };
      // it may have ended right after the handshake
      if (client.transport === undefined) client.onclose();
    });
    this.progress = new ProgressRelay(transport);
    // a transport's out-of-band trouble is either fatal, then `closed` tells, or noise
    client.onerror = () => undefined;
  }

  /** Whether it is of use for further requests. */
  get isOpen(): boolean {
    return this.open && !(this.transport instanceof StdioTransport && this.transport.isStuck);
  }

  /** Whether a call's annotated parameters travel in headers as well: Streamable HTTP of revision 2026-07-28. */
  get mirrorsParameters(): boolean {
    return this.identity.era === 'modern' && this.child === undefined;
  }

  /** Calls back whenever the provider says that its tools changed. */
  onToolsChanged(listener: () => void): void {
    this.client.setNotificationHandler('notifications/tools/list_changed', listener);
  }

  /** One page of `tools/list`, unchecked. Errors: `SessionError`. */
  listTools(cursor: string | undefined, options: RequestOptions): Promise<unknown> {
    return this.request('tools/list', cursor === undefined ? {} : { cursor }, options, () => 'maybe');
  }

  /**
   * Asks for a sign of life: any answer is one, an error too. Errors: `SessionError` without an answer, or when the
   * provider no longer knows the session.
   */
  async ping(signal: AbortSignal): Promise<void> {
    const method = this.identity.era === 'modern' ? 'server/discover' : 'ping';
    try {
      await this.request(method, {}, { signal }, () => 'maybe');
    } catch (error) {
      if (!(error instanceof SessionError) || !isSignOfLife(error)) throw error;
    }
  }

  /** One `tools/call`, result unchecked. Errors: `SessionError`, or whatever the gate's `admit` throws. */
  async callTool(call: ToolCall, options: CallOptions): Promise<unknown> {
    let sent: Sent = 'no';
    let refusal: { error: unknown } | undefined;
    const gate: DispatchGate = {
      guards: (body) => body.includes('"tools/call"'),
      admit: async () => {
        options.signal.throwIfAborted();
        try {
          await options.gate.admit();
        } catch (error) {
          refusal = { error };
          throw error;
        }
      },
      mayWrite: () => {
        // who left before the write was told that nothing was sent
        if (sent === 'no' && options.signal.aborted) return false;
        const may = options.gate.mayWrite();
        // from here on bytes may be on their way
        if (may) sent = 'maybe';
        return may;
      },
      written: () => options.gate.written(),
      abandoned: () => options.gate.abandoned(),
    };
    try {
      return await withDispatchGate(gate, () => this.request('tools/call', { ...call }, options, () => sent));
    } catch (error) {
      throw refusal?.error ?? error;
    }
  }

  /** Starts ending the session; the answer to a caller never waits for it. Resolves when nothing of it is left. */
  async close(): Promise<void> {
    this.open = false;
    if (this.terminate !== undefined)
      await Promise.race([this.terminate(), delay(TERMINATE_MS, undefined, { ref: false })]);
    await this.client.close().catch(() => undefined);
    await this.child?.stop();
    await this.child?.ended;
  }

  /** Ends the session once no request is under way any more. Resolves when nothing of it is left. */
  async retire(): Promise<void> {
    this.open = false;
    if (this.requests > 0)
      await new Promise<void>((resolve) => {
        this.retired = resolve;
      });
    await this.close();
  }

  /** The tail of a stdio provider's standard error, not redacted. */
  stderrTail(): string {
    return this.child?.stderrTail() ?? '';
  }

  /**
   * The error to throw when the provider no longer knows the session. A refusal with 404 proves that nothing was done, so
   * the operation may run again; one with 400 does not prove it of a call.
   */
  private async lossBehind(
    refusal: unknown,
    method: string,
    signal: AbortSignal,
    sent: Sent,
  ): Promise<SessionError | undefined> {
    if (this.transport.sessionId === undefined) return undefined;
    if (tellsOfLoss(refusal)) return this.lose(new SessionLostError(sent, refusal));
    if (!mayTellOfLoss(refusal)) return undefined;
    if (method === 'ping') return showsLoss(refusal) ? this.lose(new SessionLostError(sent, refusal)) : undefined;
    // the call may be at fault itself, and must not cost others their session
    const deadline = new Deadline(ASK_MS, signal);
    await this.ping(deadline.signal).catch(() => undefined);
    deadline.end();
    if (!this.isLost) return undefined;
    return method === 'tools/call' ? lostInCall(sent, refusal) : new SessionLostError(sent, refusal);
  }

  private lose(error: SessionLostError): SessionLostError {
    this.isLost = true;
    this.open = false;
    return error;
  }

  private async request(
    method: 'tools/list' | 'tools/call' | 'ping' | 'server/discover',
    params: Record<string, unknown>,
    options: RequestOptions & Pick<CallOptions, 'headers'>,
    sent: () => Sent,
  ): Promise<unknown> {
    this.requests += 1;
    const { strays } = this.transport;
    const progress = options.onProgress === undefined ? undefined : this.progress.open(options.onProgress);
    try {
      const asked = progress === undefined ? params : { ...params, _meta: progress.meta };
      const answer = this.client.request({ method, params: asked }, anyResult, {
        signal: options.signal,
        timeout: SDK_TIMEOUT_MS,
        ...(options.headers === undefined ? {} : { headers: options.headers }),
      });
      return await untilAborted(answer, options.signal);
    } catch (error) {
      if (options.signal.aborted) throw withStrays(abortError(options.signal, sent()), this.transport.strays - strays);
      const loss = await this.lossBehind(error, method, options.signal, sent());
      if (loss !== undefined) throw loss;
      throw toRequestError(error, sent(), this.transport.retryAfterMs);
    } finally {
      progress?.close();
      this.requests -= 1;
      if (this.requests === 0) this.retired?.();
    }
  }
}

/** Our own deadline, or the caller's going away. */
export function abortError(signal: AbortSignal, sent: Sent): SessionError {
  const reason: unknown = signal.reason;
  if (reason instanceof SessionError)
    return new SessionError(reason.kind, reason.message, { sent, brief: reason.brief, cause: reason });
  return reason instanceof DeadlinePassed
    ? new SessionError('timeout', `The provider did not answer within ${reason.milliseconds} ms.`, {
        sent,
        cause: reason,
      })
    : new SessionError('cancelled', 'The call was cancelled.', { sent, cause: reason });
}

function lostInCall(sent: Sent, cause: SdkHttpError): SessionError {
  const message = 'The provider no longer knows the session (HTTP 400). The next call gets a new one.';
  return new SessionError('interrupted', message, { reason: 'http_error', sent, cause });
}

/** Who waited in vain should know when an answer came that may have been meant for it. */
function withStrays(error: SessionError, strays: number): SessionError {
  if (error.kind !== 'timeout' || strays === 0) return error;
  const seen = 'Meanwhile it sent an answer whose id belongs to no open request.';
  return new SessionError(error.kind, `${error.message} ${seen}`, { sent: error.sent, cause: error });
}
