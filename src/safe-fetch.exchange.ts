import { Dispatcher } from 'undici';
import { OutboundError } from './outbound-error.js';
import type { OutboundSocket } from './safe-fetch.outbound-socket.js';
import type { WriteWatch } from './safe-fetch.write-watch.js';

/** Interim answers (1xx) before the real one; a provider may send a few, an endless row of them is an attack. */
const maximumInterimAnswers = 16;

/** The callbacks by which undici 7 reports one request; `fetch` hands over an object of this kind. */
interface RequestEvents {
  onConnect?(abort: (reason?: Error) => void): void;
  onResponseStarted?(): void;
  onHeaders?(status: number, headers: Buffer[], resume: () => void, statusText: string): boolean;
  onData?(chunk: Buffer): boolean;
  onComplete?(trailers: string[] | null): void;
  onError?(error: Error): void;
}

/**
 * Carries one hop from undici's `fetch` to its socket. It gives undici the body as bytes rather than as a stream, because
 * undici writes head and bytes in one synchronous turn, right after `onConnect`: so what `watch` answers there still
 * holds when the first byte leaves.
 */
export class HopDispatcher extends Dispatcher {
  constructor(
    private readonly socket: OutboundSocket,
    private readonly body: Buffer | null,
    private readonly headerCount: number,
    private readonly watch: WriteWatch,
  ) {
    super();
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    return this.socket.dispatch(
      { ...options, body: this.body },
      (ended) => new HopEvents(handler, this.headerCount, this.watch, ended),
    );
  }
}

class HopEvents {
  private aborted = false;
  private interimAnswers = 0;

  constructor(
    private readonly inner: RequestEvents,
    private readonly headerCount: number,
    private readonly watch: WriteWatch,
    private readonly ended: () => void,
  ) {}

  onConnect(abort: (reason?: Error) => void): void {
    this.inner.onConnect?.((reason) => {
      this.aborted = true;
      abort(reason);
    });
    // What is thrown here ends the request before a byte of it is written, and leaves the socket for the next one.
    if (!this.aborted) this.watch.beforeFirstByte();
  }

  onBodySent(): void {
    this.watch.afterLastByte();
  }

  onResponseStarted(): void {
    this.inner.onResponseStarted?.();
  }

  onHeaders(status: number, headers: Buffer[], resume: () => void, statusText: string): boolean {
    if (status < 200) this.interimAnswers += 1;
    if (this.interimAnswers > maximumInterimAnswers) throw tooLarge('too many interim answers');
    if (headers.length / 2 > this.headerCount) throw tooLarge('the answer has too many headers');
    return this.inner.onHeaders?.(status, headers, resume, statusText) ?? true;
  }

  onData(chunk: Buffer): boolean {
    return this.inner.onData?.(chunk) ?? true;
  }

  onComplete(trailers: string[] | null): void {
    this.ended();
    this.inner.onComplete?.(trailers);
  }

  onError(error: Error): void {
    this.failed(error);
  }

  failed(error: Error): void {
    this.ended();
    this.inner.onError?.(error);
  }
}

function tooLarge(message: string): OutboundError {
  return new OutboundError('message_too_large', message, 'maybe');
}
