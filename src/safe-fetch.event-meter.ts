import { OutboundError } from './outbound-error.js';

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const colon = 0x3a;

/**
 * Bounds one event of an event stream: the lines a reader must keep until the blank line that ends the event, and any
 * single line. Comments (`: keep-alive`) are not kept by readers and count only while their own line is unfinished.
 */
export class EventSizeMeter {
  private eventBytes = 0;
  private lineBytes = 0;
  private isComment = false;
  private afterCarriageReturn = false;

  constructor(
    private readonly limit: number,
    private readonly where: string,
  ) {}

  /** @throws OutboundError `message_too_large` */
  add(chunk: Uint8Array): void {
    for (const byte of chunk) {
      const isSecondOfPair = byte === lineFeed && this.afterCarriageReturn;
      this.afterCarriageReturn = byte === carriageReturn;
      if (isSecondOfPair) continue;
      if (byte === lineFeed || byte === carriageReturn) this.endLine();
      else this.addToLine(byte);
    }
  }

  private addToLine(byte: number): void {
    if (this.lineBytes === 0) this.isComment = byte === colon;
    this.lineBytes += 1;
    if (this.eventBytes + this.lineBytes <= this.limit) return;
    throw new OutboundError(
      'message_too_large',
      `${this.where}: an event is larger than ${String(this.limit)} bytes`,
      'maybe',
    );
  }

  private endLine(): void {
    if (this.lineBytes === 0) this.eventBytes = 0;
    else if (!this.isComment) this.eventBytes += this.lineBytes;
    this.lineBytes = 0;
  }
}
