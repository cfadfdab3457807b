import type { Server } from 'node:http';
import type { Socket } from 'node:net';

interface StallBounds {
  /** How often every connection is looked at, milliseconds. */
  checkMs: number;
  /** How long a client may take nothing of what waits for it, milliseconds. */
  stallMs: number;
  /** How long something may wait for it at every look, milliseconds. */
  behindMs: number;
}

/**
 * Cuts off clients that do not read what is written for them: an answer that cannot leave holds its memory, and the call
 * behind it. A connection on which nothing waits is left alone, however long a call takes.
 */
export class StalledClients {
  private readonly sockets = new Set<Socket>();
  /** Since when something waits on a connection, on the monotonic clock. */
  private readonly behindSince = new Map<Socket, number>();

  constructor(
    private readonly server: Server,
    private readonly bounds: StallBounds,
  ) {}

  /** Until the server is closed. */
  watch(): void {
    this.server.on('connection', (socket) => {
      this.sockets.add(socket);
      socket.once('close', () => {
        this.sockets.delete(socket);
        this.behindSince.delete(socket);
      });
    });
    const looking = setInterval(() => this.look(), this.bounds.checkMs).unref();
    this.server.once('close', () => clearInterval(looking));
  }

  private look(): void {
    const now = performance.now();
    for (const socket of this.sockets) {
      const since = this.behindSince.get(socket);
      if (socket.writableLength === 0) {
        // the server sets the time of a connection between two requests itself, and that one stays
        if (since !== undefined && socket.timeout === this.bounds.stallMs) socket.setTimeout(0);
        this.behindSince.delete(socket);
      } else if (since === undefined) {
        this.behindSince.set(socket, now);
        // such a time out starts anew whenever a part of what waits has left
        socket.setTimeout(this.bounds.stallMs);
      } else if (now - since > this.bounds.behindMs) {
        socket.destroy();
      }
    }
  }
}
