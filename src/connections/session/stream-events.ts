import { GatheredText } from './gathered-text.js';

/** The fields of one event of an event stream; those that it does not have are absent. */
export interface StreamEvent {
  type?: string;
  id?: string;
  retry?: string;
  data?: string;
}

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const FIELD = /^(event|id|retry|data)(?:$|: ?)/;

/**
 * Cuts an event stream into its events. Comments and unknown fields are not kept, for a stream may consist of nothing
 * else; so an event takes no more room than its data, and one line of each other field.
 */
export class StreamEvents {
  private readonly line = new GatheredText();
  private readonly data = new GatheredText();
  private event: StreamEvent = {};
  private afterCarriageReturn = false;

  /** The events that end in this chunk. */
  *read(chunk: Uint8Array): Generator<StreamEvent> {
    let start = 0;
    for (let index = 0; index < chunk.length; index += 1) {
      const byte = chunk[index];
      const isSecondOfPair = byte === LINE_FEED && this.afterCarriageReturn;
      this.afterCarriageReturn = byte === CARRIAGE_RETURN;
      if (byte !== LINE_FEED && byte !== CARRIAGE_RETURN) continue;
      if (!isSecondOfPair) {
        this.line.add(chunk.subarray(start, index));
        const event = this.readLine(this.line.take());
        if (event !== undefined) yield event;
      }
      start = index + 1;
    }
    this.line.add(chunk.subarray(start));
  }

  /** The event that this line ends. */
  private readLine(line: string): StreamEvent | undefined {
    if (line === '') return this.finish();
    const text = line.replace(/^\uFEFF/, '');
    const field = FIELD.exec(text);
    if (field === null) return undefined;
    const value = text.slice(field[0].length);
    switch (field[1]) {
      case 'data':
        if (this.event.data !== undefined) this.data.add(Buffer.from('\n'));
        this.data.add(Buffer.from(value));
        this.event.data = '';
        break;
      case 'event':
        this.event.type = value;
        break;
      case 'id':
        this.event.id = value;
        break;
      default:
        this.event.retry = value;
    }
    return undefined;
  }

  private finish(): StreamEvent | undefined {
    const { event } = this;
    this.event = {};
    if (event.data !== undefined) event.data = this.data.take();
    return Object.keys(event).length === 0 ? undefined : event;
  }
}

/** The event as it stands in a stream. */
export function writtenEvent({ type, id, retry, data }: StreamEvent): string {
  const lines = data?.split('\n').map((line) => `data: ${line}`) ?? [];
  if (retry !== undefined) lines.unshift(`retry: ${retry}`);
  if (id !== undefined) lines.unshift(`id: ${id}`);
  if (type !== undefined) lines.unshift(`event: ${type}`);
  return `${lines.join('\n')}\n\n`;
}
