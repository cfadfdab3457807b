import {
  InsufficientScopeError,
  StreamableHTTPClientTransport,
  type FetchLike,
  type JSONRPCMessage,
  type Transport,
  type TransportSendOptions,
} from '@modelcontextprotocol/client';
import { OutboundError } from '../../outbound-error.js';
import type { HttpLaunch } from '../connection.launch.js';
import { ExpectedReplies, type ProviderTransport, type ReplyId } from './expected-replies.js';
import { readRetryAfter } from './retry-after.js';
import { LOCAL_ERROR_CODE, SessionError, type LocalErrorData } from './session-error.js';
import { tellingStreamFailures } from './stream-failure.js';
import { tidying } from './tidy-response.js';

/**
 * Streamable HTTP through the safe fetch. Beside the SDK's transport it notices when the stream that should carry an
 * answer ends without it, so that the call fails at once instead of waiting for its deadline, and when it ended for being
 * too large.
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
  /** The SDK takes an error in answer to this for the word of an old provider, so a broken stream must be none. */
  private failProbe: ((error: Error) => void) | undefined;

  constructor(launch: HttpLaunch, fetch: FetchLike) {
    this.inner = new StreamableHTTPClientTransport(new URL(launch.url), {
      fetch: tellingStreamFailures(
        tidying(async (url, init) => this.noteRetryAfter(await fetch(url, init))),
        (id, error) => {
          if (error instanceof OutboundError && error.reason === 'message_too_large') this.fail(id, 'too_large', error);
        },
      ),
      requestInit: { headers: launch.headers },
      // the safe fetch decides about redirects
      redirectPolicy: 'follow',
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
      const expected = this.replies.receive(message);
      if (expected === undefined) return;
      if (!('method' in expected)) this.failProbe = undefined;
      this.onmessage?.(expected);
    };
    await this.inner.start();
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if (!('method' in message && 'id' in message)) {
      if ('method' in message && message.method === 'notifications/cancelled') {
        this.replies.giveUp(message.params?.['requestId']);
      }
      return this.inner.send(message, options);
    }
    const { id } = message;
    this.replies.expect(id, message.method);
    options?.requestSignal?.addEventListener('abort', () => this.replies.giveUp(id), { once: true });
    try {
      const sent = this.inner.send(message, {
        ...options,
        onRequestStreamEnd: () => {
          options?.onRequestStreamEnd?.();
          this.fail(id, 'interrupted');
        },
      });
      await (message.method === 'server/discover' ? this.untilProbed(sent) : sent);
    } catch (error) {
      this.replies.drop(id);
      throw error instanceof InsufficientScopeError ? toScopeError(error) : error;
    }
  }

  /** Tells the provider that the session is over, within the given signal; failures do not matter. */
  async terminate(): Promise<void> {
    await this.inner.terminateSession().catch(() => undefined);
  }

  async close(): Promise<void> {
    await this.inner.close();
  }

  private noteRetryAfter(response: Response): Response {
    const asksForPause = response.status === 429 || response.status === 503;
    if (asksForPause) this.retryAfterMs = readRetryAfter(response.headers.get('retry-after'), Date.now());
    return response;
  }

  /** Rejects when the probe cannot be answered any more; its answer goes another way. */
  private async untilProbed(sent: Promise<void>): Promise<void> {
    const broken = new Promise<never>((_, reject) => {
      this.failProbe = reject;
    });
    broken.catch(() => undefined);
    await sent;
    await broken;
  }

  /** Puts an error of our own in place of an answer that cannot come; nothing when it came already. */
  private fail(id: ReplyId, why: LocalErrorData['warren'], cause: OutboundError = streamEnded()): void {
    if (!this.replies.drop(id)) return;
    if (this.failProbe !== undefined) {
      this.failProbe(cause);
      return;
    }
    const data: LocalErrorData = { warren: why };
    this.onmessage?.({ jsonrpc: '2.0', id, error: { code: LOCAL_ERROR_CODE, message: why, data } });
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
