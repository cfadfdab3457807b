import type { Server } from 'node:http';
import { StalledClients } from './stalled-clients.js';

/** What one HTTP client may take of this server. Sizes in bytes, times in milliseconds. */
export interface HttpBounds {
  /** Of the request line and all headers together; PostgreSQL ids, tokens and cursors are far shorter. */
  headerBytes: number;
  /** A complete set of 5,000 grants with long names fits. */
  bodyBytes: number;
  /** Arrays and objects in each other, in a body. */
  bodyDepth: number;
  /** From the connection, or the first byte of a further request, to the end of its headers. */
  headersMs: number;
  /** The same to the end of its body. */
  requestMs: number;
  /** Between two requests; longer than the 60 s after which load balancers give up an idle connection. */
  keepAliveMs: number;
  /** How often the bounds of time are looked at. */
  checkMs: number;
  /** How long a client may take nothing of an answer that waits for it. */
  stallMs: number;
  /** How long a client that does take something may keep an answer waiting all the time. */
  behindMs: number;
}

export const defaultHttpBounds: HttpBounds = {
  headerBytes: 16 * 1024,
  bodyBytes: 4 * 1024 * 1024,
  bodyDepth: 200,
  headersMs: 10_000,
  requestMs: 30_000,
  keepAliveMs: 72_000,
  checkMs: 2_000,
  stallMs: 30_000,
  behindMs: 300_000,
};

/** Bounds the connections of a server, which does not listen yet; `turnedAway` hears of each that is one too many. */
export function boundConnections(
  server: Server,
  bounds: HttpBounds & { connections: number },
  turnedAway: () => void,
): void {
  server.maxConnections = bounds.connections;
  server.on('drop', () => {
    turnedAway();
    // who only keeps a connection for later makes room for who comes now
    server.closeIdleConnections();
  });
  new StalledClients(server, bounds).watch();
}
