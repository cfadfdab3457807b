import {
  InsufficientScopeError,
  StreamableHTTPClientTransport,
  type FetchLike,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type Transport,
  type TransportSendOptions,
} from '@modelcontextprotocol/client';
import { OutboundError } from '../../outbound-error.js';
import type { HttpLaunch } from '../connection.launch.js';
import { ExpectedReplies, type ProviderTransport, type ReplyId } from './expected-replies.js';
import { HttpExchanges } from './http-exchanges.js';
import { readRetryAfter } from './retry-after.js';
import { localAnswer, type LocalErrorData } from './local-error.js';
import { SessionError } from './session-error.js';
import { StandingStream } from './standing-stream.js';
import { reconnectionOptions, reconnectionScheduler } from './stream-reconnection.js';
import { tellingStreamFailures } from './stream-failure.js';
import { tidying } from './tidy-response.js';

/**
 * Streamable HTTP through the safe fetch. Beside the SDK's transport it notices when the stream that should carry an
 * answer ends without it, so that the call fails at once instead of waiting for its deadline, and when it ended for being
 * too large; and it gives up the exchange of a cancelled request.
 */
export class HttpTransport implements ProviderTransport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  readonly hasPerRequestStream = true;
  /** What the provider last asked for with 429 or 503, milliseconds. */
  retryAfterMs: number | undefined;
  private readonly inner: StreamableHTTPClientTransport;
  private readonly replies = new ExpectedReplies();
  private readonly exchanges: HttpExchanges;
  private readonly standing = new StandingStream();
  /** The SDK takes an error in answer to it for the word of an old provider, so a broken stream must be none. */
  private probe: { id: ReplyId; answered: () => void; failed: (error: Error) => void } | undefined;

  constructor(launch: HttpLaunch, fetch: FetchLike) {
    const noting: FetchLike = async (url, init) => {
      const response = await fetch(url, init);
      this.noteRetryAfter(response);
      if (init?.method === 'GET' && response.ok && this.exchanges.isApart) this.standing.opened();
      return response;
    };
    const isBusy = (): boolean => this.exchanges.isBusy;
    this.exchanges = new HttpExchanges(tidying(noting, { answers: 'come-back', isBusy }));
    this.inner = new StreamableHTTPClientTransport(new URL(launch.url), {
      fetch: tellingStreamFailures(this.exchanges.fetch, (id, error) => {
        if (error instanceof OutboundError && error.reason === 'message_too_large') this.fail(id, 'too_large', error);
      }),
      requestInit: { headers: launch.headers },
      // the safe fetch decides about redirects
      redirectPolicy: 'follow',
      reconnectionOptions,
      reconnectionScheduler: reconnectionScheduler(this.standing, () => this.exchanges.isApart),
    });
  }

  get sessionId(): string | undefined {
    return this.inner.sessionId;
  }

  get strays(): number {
    return this.replies.strays;
  }

  setProtocolVersion(version: string): void {
    this.inner.setProtocolVersion(version);
  }

  async start(): Promise<void> {
    this.inner.onclose = () => this.onclose?.();
    this.inner.onerror = (error) => this.onerror?.(error);
    this.inner.onmessage = (message: JSONRPCMessage) => {
      if (this.exchanges.isApart) this.standing.heard();
      const expected = this.replies.receive(message);
      if (expected === undefined) return;
      if (!('method' in expected) && expected.id !== undefined) this.answered(expected.id);
      this.onmessage?.(expected);
    };
    await this.inner.start();
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if ('method' in message && 'id' in message) return this.request(message, options);
    const send = (): Promise<void> => this.inner.send(message, options);
    if (!('method' in message)) return this.exchanges.answer(message, send);
    if (message.method !== 'notifications/cancelled') return this.exchanges.apart(send);
    this.replies.giveUp(message.params?.['requestId']);
    return this.exchanges.cancel(message, send);
  }

  /** Tells the provider that the session is over, within the given signal; failures do not matter. */
  async terminate(): Promise<void> {
    await this.exchanges.told();
    await this.exchanges.apart(() => this.inner.terminateSession()).catch(() => undefined);
  }

  /** A provider that is to hear of a cancellation hears of it first. */
  async close(): Promise<void> {
    await this.exchanges.told();
    await this.inner.close();
    this.exchanges.close();
  }

  private async request(message: JSONRPCRequest, options: TransportSendOptions = {}): Promise<void> {
    const { requestSignal, ...rest } = options;
    const { id, method } = message;
    this.replies.expect(id, method);
    requestSignal?.addEventListener('abort', () => this.replies.giveUp(id), { once: true });
    const send = (ended: () => void): Promise<void> => {
      const sent = this.inner.send(message, {
        ...rest,
        onRequestStreamEnd: () => {
          options.onRequestStreamEnd?.();
          ended();
          this.fail(id, 'interrupted');
        },
      });
      return method === 'server/discover' ? this.untilProbed(id, sent) : sent;
    };
    try {
      const streams = await this.exchanges.request(message, requestSignal, send);
      // all that the provider answered has been read, and it was no answer to this
      if (!streams) this.fail(id, 'malformed');
    } catch (error) {
      this.replies.drop(id);
      throw error instanceof InsufficientScopeError ? toScopeError(error) : error;
    }
  }

  private answered(id: ReplyId): void {
    this.exchanges.answered(id);
    if (this.probe?.id === id) this.probe.answered();
  }

  private noteRetryAfter({ status, headers }: Response): void {
    const asksForPause = status === 429 || status === 503;
    if (asksForPause) this.retryAfterMs = readRetryAfter(headers.get('retry-after'), Date.now());
  }

  /** Resolves when the probe is answered, the answer going another way; rejects when that cannot be any more. */
  private async untilProbed(id: ReplyId, sent: Promise<void>): Promise<void> {
    const probed = new Promise<void>((answered, failed) => {
      this.probe = { id, answered, failed };
    });
    probed.catch(() => undefined);
    try {
      await sent;
      await probed;
    } finally {
      this.probe = undefined;
    }
  }

  /** Puts an error of our own in place of an answer that cannot come; nothing when it came already. */
  private fail(id: ReplyId, why: LocalErrorData['warren'], cause: OutboundError = streamEnded()): void {
    if (!this.replies.drop(id)) return;
    this.exchanges.answered(id);
    if (this.probe?.id === id) return this.probe.failed(cause);
    this.onmessage?.(localAnswer(id, why));
  }
}

/** 403 with a challenge that says which permission is missing; the provider has answered, so it has seen the request. */
function toScopeError(error: InsufficientScopeError): SessionError {
  const scope = /^[\x21-\x7e ]{1,200}$/.test(error.requiredScope ?? '')
    ? `; it asks for the scope ${error.requiredScope}`
    : '';
  return new SessionError('unreachable', `The provider denies access (HTTP 403)${scope}.`, {
    reason: 'auth_forbidden',
    sent: 'yes',
    cause: error,
  });
}

function streamEnded(): OutboundError {
  return new OutboundError('http_error', 'The stream ended before the answer came.', 'maybe');
}
