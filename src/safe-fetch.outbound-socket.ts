import type { Socket } from 'node:net';
import { Client, type Dispatcher } from 'undici';
import { OutboundError } from './outbound-error.js';

/** What a lane learns of a socket of its own. */
export interface SocketKeeper {
  /** Nobody holds it and nothing runs on it: it may be kept, and must be let go of when it is lost. */
  settled(socket: OutboundSocket): void;
}

/** What becomes of one request. */
type RequestEvents = Dispatcher.DispatchHandler & {
  /** It was not sent. */
  failed(error: Error): void;
};

/**
 * One open socket, which carries one request at a time for whoever holds it. It never dials again: once it is lost, it
 * fails what is sent on it with `http_error`, and nothing of that was written.
 */
export class OutboundSocket {
  /** Whether a request was ever given to it; until then the other side has seen nothing but the connection. */
  isUsed = false;
  private isHeld = true;
  private isGone = false;
  private isWatched = false;
  private running = 0;
  private readonly client: Client;

  constructor(
    origin: string,
    private readonly socket: Socket,
    options: Client.Options,
    private readonly keeper: SocketKeeper,
  ) {
    socket.once('close', this.onClosed);
    this.client = new Client(origin, {
      ...options,
      connect: (_options, callback) => {
        const handOver = (): void => {
          const handedOver = this.handOver();
          if (handedOver === undefined) callback(lostSocket(), null);
          else callback(null, handedOver);
        };
        // undici overlooks a socket it is handed before `connect` returned; and one that had to wait is looked at once more
        if (this.isWatched) setImmediate(handOver);
        else queueMicrotask(handOver);
      },
    });
    this.client.on('disconnect', this.onClosed);
    this.client.on('connectionError', this.onClosed);
  }

  /** A broken socket tells whoever uses it first, and only then that it is closed. */
  get isLost(): boolean {
    return this.isGone || this.socket.destroyed || !this.socket.writable;
  }

  /** Sends one request; `toEvents` gets what to call once it has ended, one way or the other. */
  dispatch(options: Dispatcher.DispatchOptions, toEvents: (ended: () => void) => RequestEvents): boolean {
    this.running += 1;
    let hasEnded = false;
    const events = toEvents(() => {
      if (hasEnded) return;
      hasEnded = true;
      // undici is done with the request one turn later, and by then a socket that the answer closed is lost
      setImmediate(() => {
        this.running -= 1;
        this.settle();
      });
    });
    if (this.isLost) {
      events.failed(lostSocket());
      return false;
    }
    this.isUsed = true;
    return this.client.dispatch(options, events);
  }

  /** Notices from now on that the other side closes it, or speaks before it was asked, which no HTTP server does. */
  watch(): void {
    // undici watches those that were used
    if (this.isUsed || this.isWatched) return;
    this.isWatched = true;
    this.socket.on('data', this.onSpoken);
    this.socket.resume();
  }

  hold(): void {
    this.isHeld = true;
  }

  /** The holder needs it no more; it is free for the next one as soon as its answer has been read to the end. */
  leave(): void {
    this.isHeld = false;
    this.settle();
  }

  /** Gives the bare socket away, if it is unused and still open. */
  surrender(): Socket | undefined {
    const socket = this.isUsed ? undefined : this.handOver();
    this.isGone = true;
    void this.client.destroy();
    return socket;
  }

  /** Closes it and fails what runs on it. */
  async close(error: OutboundError = lostSocket()): Promise<void> {
    this.lose(error);
    await this.client.destroy();
  }

  private readonly onSpoken = (): void => {
    this.socket.destroy();
  };

  private readonly onClosed = (): void => {
    this.lose(lostSocket());
  };

  private handOver(): Socket | undefined {
    this.socket.off('data', this.onSpoken);
    this.socket.off('close', this.onClosed);
    this.socket.pause();
    return this.socket.destroyed || !this.socket.writable ? undefined : this.socket;
  }

  private lose(error: OutboundError): void {
    if (this.isGone) return;
    this.isGone = true;
    void this.client.destroy(error);
    this.socket.destroy();
    this.settle();
  }

  private settle(): void {
    if (!this.isHeld && (this.running === 0 || this.isLost)) this.keeper.settled(this);
  }
}

function lostSocket(): OutboundError {
  return new OutboundError('http_error', 'the connection was closed before the request was written');
}
