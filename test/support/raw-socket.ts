import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A connection that sends exactly what a test writes, and reads nothing unless it is told to. */
export class RawSocket {
  readonly socket: Socket;
  /** When the other side ended the connection. */
  readonly closed: Promise<void>;
  received = '';

  constructor(url: string) {
    const { hostname, port } = new URL(url);
    this.socket = connect({ host: hostname, port: Number(port), allowHalfOpen: false });
    // a cut may show as a reset
    this.socket.on('error', () => undefined);
    this.closed = new Promise((resolve) => this.socket.once('close', () => resolve()));
  }

  async opened(): Promise<this> {
    if (this.socket.connecting) await once(this.socket, 'connect');
    return this;
  }

  write(text: string): void {
    if (!this.socket.destroyed) this.socket.write(text);
  }

  /** Reads from now on, all there is. */
  read(): this {
    this.socket.setEncoding('latin1').on('data', (chunk: string) => (this.received += chunk));
    return this;
  }

  /** Everything received until the other side ended the connection. */
  async all(): Promise<string> {
    this.read();
    await this.closed;
    return this.received;
  }

  end(): void {
    this.socket.destroy();
  }
}

/** A request as it travels. */
export function requestText(method: string, path: string, headers: Record<string, string> = {}, body = ''): string {
  const lines = Object.entries({ Host: 'localhost', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
}
