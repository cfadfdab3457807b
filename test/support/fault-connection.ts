import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** What may happen to one HTTP exchange on its way. */
export type ExchangeFault =
  /** The request is taken and goes nowhere; nothing comes back, and the connection stays. */
  | 'swallow-request'
  /** The request arrives; its answer does not, and the connection stays. */
  | 'swallow-answer'
  /** RST in place of the request. */
  | 'reset-request'
  /** RST in place of the answer. */
  | 'reset-answer'
  /** The answer comes at one byte a second. */
  | 'drip-answer'
  /** The answer ends, with the connection, inside its first server-sent event. */
  | 'cut-event';

/** Where a fault struck. */
export interface Exchange {
  /** Of its connection, from 0: above 0 the connection was kept from an earlier exchange. */
  number: number;
  /** Monotonic, milliseconds. */
  at: number;
}

/** Enough of an event's last line to be inside it. */
const EVENT_BYTES = 20;
const DRIP_MS = 1_000;
/** A request is looked at so far, characters. */
const SEEN_CHARACTERS = 64 * 1024;

/** One connection through the proxy, with one exchange at a time, as HTTP/1.1 without pipelining has it. */
export class FaultConnection {
  private readonly provider: Socket;
  private exchange = -1;
  private turn: 'client' | 'provider' | 'none' = 'none';
  private request = '';
  private fault: ExchangeFault | undefined;
  private answer = Buffer.alloc(0);
  private dripping: NodeJS.Timeout | undefined;

  constructor(
    private readonly client: Socket,
    targetPort: number,
    private readonly strike: (request: string, exchange: Exchange) => ExchangeFault | undefined,
  ) {
    this.provider = connect({ port: targetPort, host: '127.0.0.1', noDelay: true });
    client.on('data', (chunk: Buffer) => this.fromClient(chunk));
    this.provider.on('data', (chunk: Buffer) => this.fromProvider(chunk));
    for (const [side, other] of [
      [client, this.provider],
      [this.provider, client],
    ] as const) {
      side.on('error', () => undefined);
      // what was passed on before still goes out
      side.once('close', () => other.destroySoon());
    }
    client.once('close', () => clearInterval(this.dripping));
  }

  /** No answer is waited for. */
  get isIdle(): boolean {
    return this.turn !== 'client';
  }

  /** It has carried an exchange and waits for the next. */
  get isKept(): boolean {
    return this.turn === 'provider';
  }

  /** Resolves when the connection is gone on this side. */
  async close(how: 'end' | 'reset'): Promise<void> {
    if (this.client.destroyed) return;
    const closed = once(this.client, 'close');
    if (how === 'reset') this.client.resetAndDestroy();
    else this.client.destroySoon();
    await closed;
  }

  private fromClient(chunk: Buffer): void {
    if (this.turn !== 'client') {
      this.turn = 'client';
      this.exchange += 1;
      this.request = '';
    }
    if (this.fault === undefined) {
      this.request = (this.request + chunk.toString('latin1')).slice(0, SEEN_CHARACTERS);
      this.fault = this.strike(this.request, { number: this.exchange, at: performance.now() });
    }
    if (this.fault === 'swallow-request') return;
    if (this.fault === 'reset-request') this.client.resetAndDestroy();
    else this.provider.write(chunk);
  }

  private fromProvider(chunk: Buffer): void {
    switch (this.fault) {
      case undefined:
        this.turn = 'provider';
        this.client.write(chunk);
        break;
      case 'reset-answer':
        this.client.resetAndDestroy();
        break;
      case 'drip-answer':
        this.answer = Buffer.concat([this.answer, chunk]);
        this.dripping ??= setInterval(() => {
          this.client.write(this.answer.subarray(0, 1));
          this.answer = this.answer.subarray(1);
        }, DRIP_MS);
        break;
      case 'cut-event':
        this.answer = Buffer.concat([this.answer, chunk]);
        this.cut();
        break;
      case 'swallow-request':
      case 'swallow-answer':
      case 'reset-request':
        break;
    }
  }

  private cut(): void {
    // events without data come before some answers
    const event = this.answer.indexOf('\ndata: {');
    const end = event + EVENT_BYTES;
    if (event < 0 || this.answer.length < end) return;
    this.client.end(this.answer.subarray(0, end));
    this.provider.destroy();
  }
}
