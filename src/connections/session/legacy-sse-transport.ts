import { SSEClientTransport, type FetchLike, type JSONRPCMessage, type Transport } from '@modelcontextprotocol/client';
import type { HttpLaunch } from '../connection.launch.js';
import { ExpectedReplies, type ProviderTransport } from './expected-replies.js';
import { tidying } from './tidy-response.js';

/** The HTTP+SSE transport of 2024-11-05, for providers that answer Streamable HTTP with 400, 404 or 405. */
export function legacySseTransport(launch: HttpLaunch, fetch: FetchLike): ProviderTransport {
  return new LegacySseTransport(launch, fetch);
}

class LegacySseTransport implements ProviderTransport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  private readonly inner: SSEClientTransport;
  private readonly replies = new ExpectedReplies();

  constructor(launch: HttpLaunch, fetch: FetchLike) {
    this.inner = new SSEClientTransport(new URL(launch.url), {
      fetch: tidying(fetch),
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
    this.inner.onerror = (error) => this.onerror?.(error);
    this.inner.onmessage = (message: JSONRPCMessage) => {
      const expected = this.replies.receive(message);
      if (expected !== undefined) this.onmessage?.(expected);
    };
    await this.inner.start();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (!('method' in message)) return this.inner.send(message);
    if (!('id' in message)) {
      if (message.method === 'notifications/cancelled') this.replies.giveUp(message.params?.['requestId']);
      return this.inner.send(message);
    }
    this.replies.expect(message.id, message.method);
    try {
      await this.inner.send(message);
    } catch (error) {
      this.replies.drop(message.id);
      throw error;
    }
  }

  close(): Promise<void> {
    return this.inner.close();
  }
}
