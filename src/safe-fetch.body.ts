import { OutboundError } from './outbound-error.js';
import { EventSizeMeter } from './safe-fetch.event-meter.js';

/** Counts what came in; throws when it is more than allowed. */
interface Meter {
  add(chunk: Uint8Array): void;
}

/**
 * The answer's body, counted after decompression. When it grows over the bound it is cancelled, which closes the socket,
 * so a decompression bomb costs no more than the bound. Errors of the network come out translated by `translate`.
 *
 * @throws (while reading) OutboundError `message_too_large`
 */
export function limitedBody(
  body: ReadableStream<Uint8Array>,
  limit: { bytes: number; isEventStream: boolean; where: string },
  translate: (error: unknown) => Error,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const meter: Meter = limit.isEventStream
    ? new EventSizeMeter(limit.bytes, limit.where)
    : new TotalSizeMeter(limit.bytes, limit.where);
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (done) {
            controller.close();
            return;
          }
          meter.add(value);
          controller.enqueue(value);
        } catch (error) {
          controller.error(translate(error));
          await reader.cancel(error).catch(() => undefined);
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    // Nothing is read ahead of the consumer.
    { highWaterMark: 0 },
  );
}

class TotalSizeMeter implements Meter {
  private total = 0;

  constructor(
    private readonly limit: number,
    private readonly where: string,
  ) {}

  add(chunk: Uint8Array): void {
    this.total += chunk.byteLength;
    if (this.total <= this.limit) return;
    throw new OutboundError(
      'message_too_large',
      `${this.where}: the answer is larger than ${String(this.limit)} bytes`,
      'maybe',
    );
  }
}
