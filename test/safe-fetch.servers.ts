import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { type AllowedNetworks, parseAllowedNetworks } from '../src/address-policy.js';
import { SafeFetch, type SafeFetchOptions } from '../src/safe-fetch.js';

type Closer = () => Promise<void>;

const closers: Closer[] = [];

/** Ends everything this file started for the current test. */
export async function closeAll(): Promise<void> {
  await Promise.all(closers.splice(0).map((close) => close()));
}

export function onClose(close: Closer): void {
  closers.push(close);
}

export function allow(text: string): AllowedNetworks {
  const parsed = parseAllowedNetworks(text);
  if (!parsed.ok) throw new Error(parsed.problems.join('; '));
  return parsed.value;
}

/** A safe fetch that is closed with the test; loopback is open unless said otherwise. */
export function safeFetch(options: Partial<SafeFetchOptions> = {}): SafeFetch {
  const safe = new SafeFetch({ allowedNetworks: allow('127.0.0.0/8'), ownListeners: () => [], ...options });
  onClose(() => safe.close());
  return safe;
}

export interface Listening {
  port: number;
  connections: () => number;
}

/** A TCP server on loopback whose sockets end with the test. */
export async function tcpServer(onSocket: (socket: Socket) => void, host = '127.0.0.1'): Promise<Listening> {
  return listen(createServer(onSocket), host);
}

/** The same on every address of the machine, of both families where it has them. */
export async function tcpServerEverywhere(onSocket: (socket: Socket) => void): Promise<Listening> {
  return listen(createServer(onSocket));
}

export async function httpServer(onRequest: RequestListener): Promise<Listening> {
  return listen(createHttpServer(onRequest), '127.0.0.1');
}

export async function listen(server: Server, host?: string): Promise<Listening> {
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on('connection', (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, host, resolve);
  });
  onClose(
    () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => {
          resolve();
        });
      }),
  );
  return { port: (server.address() as AddressInfo).port, connections: () => connections };
}

/** An answer with a body of text, as bytes on the wire. */
export function answer(body: string, head = 'HTTP/1.1 200 OK'): string {
  return `${head}\r\nContent-Length: ${String(Buffer.byteLength(body))}\r\n\r\n${body}`;
}

/** The error a promise rejects with; a promise that resolves fails the test. */
export async function failure(promise: Promise<unknown>): Promise<Error> {
  try {
    await promise;
  } catch (error) {
    return error as Error;
  }
  throw new Error('expected a rejection');
}

/** A promise that the test settles itself. */
export function pending<T>(): { promise: Promise<T>; resolve: (value: T) => void; reject: (error: Error) => void } {
  let resolve: (value: T) => void = () => undefined;
  let reject: (error: Error) => void = () => undefined;
  const promise = new Promise<T>((onResolve, onReject) => {
    [resolve, reject] = [onResolve, onReject];
  });
  return { promise, resolve, reject };
}
