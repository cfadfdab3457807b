import { type Socket, connect as connectTcp } from 'node:net';
import { type TLSSocket, connect as connectTls } from 'node:tls';
import { OutboundError } from './outbound-error.js';

/** How long one address has before the next is tried beside it (RFC 8305 recommends 250 ms). */
const attemptDelayMs = 250;

/**
 * Opens a TCP connection to the first of the checked addresses that answers; they are started in order, the next one
 * when the last failed or has been silent for a moment. Addresses are literals, so nothing is resolved again here.
 */
export function dialFirst(addresses: readonly string[], port: number, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const attempts = new Set<Socket>();
    const failures: Error[] = [];
    let next = 0;
    let timer: NodeJS.Timeout | undefined;

    const settle = (winner: Socket | undefined): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      for (const attempt of attempts) if (attempt !== winner) attempt.destroy();
      attempts.clear();
    };
    const onAbort = (): void => {
      settle(undefined);
      reject(signal.reason as Error);
    };
    const start = (): void => {
      clearTimeout(timer);
      const host = addresses[next];
      if (host === undefined) {
        if (attempts.size > 0) return;
        settle(undefined);
        reject(new AggregateError(failures, 'every address failed'));
        return;
      }
      next += 1;
      const socket = connectTcp({ host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000 });
      attempts.add(socket);
      socket.once('connect', () => {
        socket.removeAllListeners('error');
        keepErrorsHandled(socket);
        settle(socket);
        resolve(socket);
      });
      socket.once('error', (error) => {
        failures.push(error);
        // A loser of the race was ended by settle and is no longer counted.
        if (attempts.delete(socket)) start();
      });
      timer = setTimeout(start, attemptDelayMs);
    };

    if (signal.aborted) {
      reject(signal.reason as Error);
      return;
    }
    signal.addEventListener('abort', onAbort, { once: true });
    start();
  });
}

export interface TlsPeer {
  /** The name or literal address of the URL, which the certificate must be valid for. */
  host: string;
  isLiteral: boolean;
  authorities: readonly string[] | undefined;
}

/**
 * Runs the TLS handshake over an open socket. An explicit `rejectUnauthorized` also outranks
 * NODE_TLS_REJECT_UNAUTHORIZED.
 */
export function secure(socket: Socket, peer: TlsPeer, signal: AbortSignal): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const secured = connectTls({
      socket,
      host: peer.host,
      // SNI must not carry an address (RFC 6066, section 3); then the certificate is checked against `host`.
      servername: peer.isLiteral ? '' : peer.host,
      ...(peer.authorities === undefined ? {} : { ca: [...peer.authorities] }),
      rejectUnauthorized: true,
      ALPNProtocols: ['http/1.1'],
    });
    const onAbort = (): void => {
      secured.destroy();
      reject(signal.reason as Error);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    keepErrorsHandled(secured);
    const onFailure = (error: Error): void => {
      signal.removeEventListener('abort', onAbort);
      socket.destroy();
      reject(error);
    };
    const onClose = (): void => {
      onFailure(new OutboundError('http_error', 'the connection closed during the TLS handshake'));
    };
    secured.once('error', onFailure);
    secured.once('close', onClose);
    secured.once('secureConnect', () => {
      signal.removeEventListener('abort', onAbort);
      secured.off('error', onFailure);
      secured.off('close', onClose);
      resolve(secured);
    });
    if (signal.aborted) onAbort();
  });
}

/** A socket that fails while nobody uses it must not end the process; its `close` tells the rest. */
function keepErrorsHandled(socket: Socket): void {
  socket.on('error', () => undefined);
}
