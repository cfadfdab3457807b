import {
  SSEClientTransport,
  SseError,
  type FetchLike,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type Transport,
} from '@modelcontextprotocol/client';
import type { HttpLaunch } from '../connection.launch.js';
import { ExpectedReplies, type ProviderTransport } from './expected-replies.js';
import { HttpExchanges } from './http-exchanges.js';
import { tidying } from './tidy-response.js';

/** The HTTP+SSE transport of 2024-11-05, for providers that answer Streamable HTTP with 400, 404 or 405. */
export function legacySseTransport(launch: HttpLaunch, fetch: FetchLike): ProviderTransport {
  return new LegacySseTransport(launch, fetch);
}

/** Answers come on one common stream; a request's own exchange is over when the provider has accepted it. */
class LegacySseTransport implements ProviderTransport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  private readonly inner: SSEClientTransport;
  private readonly replies = new ExpectedReplies();
  private readonly exchanges: HttpExchanges;
  private started = false;

  constructor(launch: HttpLaunch, fetch: FetchLike) {
    const isBusy = (): boolean => this.exchanges.isBusy;
    this.exchanges = new HttpExchanges(tidying(fetch, { answers: 'come-elsewhere', isBusy }));
    this.inner = new SSEClientTransport(new URL(launch.url), {
      fetch: this.exchanges.fetch,
      requestInit: { headers: launch.headers },
      redirectPolicy: 'follow',
    });
  }

  get strays(): number {
    return this.replies.strays;
  }

  setProtocolVersion(version: string): void {
    this.inner.setProtocolVersion(version);
  }

  async start(): Promise<void> {
    this.inner.onclose = () => this.onclose?.();
    this.inner.onerror = (error) => {
      this.onerror?.(error);
      // the stream is gone: another would be another session, and what is owed on this one cannot come any more
      if (this.started && error instanceof SseError) void this.close();
    };
    this.inner.onmessage = (message: JSONRPCMessage) => {
      const expected = this.replies.receive(message);
      if (expected === undefined) return;
      if (!('method' in expected) && expected.id !== undefined) this.exchanges.answered(expected.id);
      this.onmessage?.(expected);
    };
    await this.exchanges.apart(() => this.inner.start());
    this.started = true;
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const send = (): Promise<void> => this.inner.send(message);
    if (!('method' in message)) return this.exchanges.answer(message, send);
    if ('id' in message) return this.request(message, send);
    if (message.method !== 'notifications/cancelled') return this.exchanges.apart(send);
    this.replies.giveUp(message.params?.['requestId']);
    return this.exchanges.cancel(message, send);
  }

  /** A provider that is to hear of a cancellation hears of it first. */
  async close(): Promise<void> {
    await this.exchanges.told();
    await this.inner.close();
    this.exchanges.close();
  }

  private async request(message: JSONRPCRequest, send: () => Promise<void>): Promise<void> {
    this.replies.expect(message.id, message.method);
    try {
      await this.exchanges.request(message, undefined, send);
    } catch (error) {
      this.replies.drop(message.id);
      throw error;
    }
  }
}
