import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { outgoingEvent } from '../outgoing-text.js';
import type { Redactor } from '../redactor.js';

/** What ends an event, and a comment. */
const EVENT_END = '\n\n';

/** Server-sent events as one answer, written straight to the connection. What comes after the client left is dropped. */
export class McpEventStream {
  private comments: NodeJS.Timeout | undefined;

  constructor(
    private readonly raw: ServerResponse,
    private readonly headers: OutgoingHttpHeaders,
    private readonly commentEveryMs: number,
    private readonly redactor: Redactor,
  ) {}

  get isOpen(): boolean {
    return this.raw.headersSent;
  }

  /** Sends the head and a first comment, so that nothing between here and the client waits for more. */
  open(): void {
    if (this.isOpen || this.isGone) return;
    this.raw.writeHead(200, {
      ...this.headers,
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      // nginx would collect events in its buffer
      'x-accel-buffering': 'no',
    });
    this.comment();
    this.comments = setInterval(() => this.comment(), this.commentEveryMs);
  }

  /** One JSON-RPC message, given as JSON text without line breaks and without secrets. */
  async message(json: string): Promise<void> {
    this.open();
    await this.write(`event: message\ndata: ${json}${EVENT_END}`);
  }

  /** Passes on a stream of events that brings its own comments. */
  async pipe(body: AsyncIterable<Uint8Array>): Promise<void> {
    this.open();
    clearInterval(this.comments);
    const decoder = new TextDecoder();
    let open = '';
    for await (const chunk of body) {
      if (this.isGone) return;
      open += decoder.decode(chunk, { stream: true });
      const end = open.lastIndexOf(EVENT_END) + EVENT_END.length;
      if (end < EVENT_END.length) continue;
      const whole = open.slice(0, end);
      open = open.slice(end);
      await this.write(await outgoingEvent(whole, this.redactor));
    }
    if (open !== '') await this.write(await outgoingEvent(open, this.redactor));
  }

  /** Ends the answer, whether it was a stream or not. */
  close(): void {
    clearInterval(this.comments);
    if (!this.isGone) this.raw.end();
  }

  private get isGone(): boolean {
    return this.raw.destroyed || this.raw.writableEnded;
  }

  private comment(): void {
    if (!this.isGone && !this.raw.writableNeedDrain) this.raw.write(': waiting\n\n');
  }

  private async write(chunk: string): Promise<void> {
    if (this.isGone || this.raw.write(chunk)) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        this.raw.off('drain', done).off('close', done);
        resolve();
      };
      this.raw.on('drain', done).on('close', done);
    });
  }
}
