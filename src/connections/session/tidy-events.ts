import { setImmediate as nextTurn } from 'node:timers/promises';
import { localAnswer } from './local-error.js';
import { readMessage } from './read-message.js';
import { type StreamEvent, StreamEvents, writtenEvent } from './stream-events.js';

type RequestId = string | number;

/** After so many events at once others have their turn. */
const MOST_IN_A_TURN = 100;

export interface StreamReader {
  /** The request that the whole stream belongs to. */
  owner?: RequestId | undefined;
  /** Whether what the provider asks is passed over for now. */
  isBusy: () => boolean;
}

/**
 * An event stream whose messages the protocol client can read, and nothing beside its events. An answer that cannot be
 * read fails the request that it answers, or that the whole stream belongs to, by an error of our own in its place; what
 * is no answer, as many keep a stream alive with, fails nobody. An event that is cut off tells nothing.
 */
export function tidyEvents(body: NonNullable<Response['body']>, reader: StreamReader): ReadableStream<Uint8Array> {
  const events = new StreamEvents();
  const tidy = new TransformStream<Uint8Array, string>({
    transform: async (chunk, controller) => {
      let count = 0;
      for (const event of events.read(chunk)) {
        controller.enqueue(tidyEvent(event, reader).map(writtenEvent).join(''));
        count += 1;
        if (count % MOST_IN_A_TURN === 0) await nextTurn();
      }
    },
  });
  return body.pipeThrough(tidy).pipeThrough(new TextEncoderStream());
}

function tidyEvent(event: StreamEvent, reader: StreamReader): StreamEvent[] {
  const { type = '', data = '' } = event;
  if (data === '' || (type !== '' && type !== 'message')) return [event];
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch {
    return [event];
  }
  // the protocol client reads one message an event; noise may be many more than messages
  const values = Array.isArray(value) ? value.filter((one) => readMessage(one).kind !== 'noise') : [value];
  const messages = values.flatMap((one) => tidyMessage(one, reader));
  if (messages[0] === value) return [event];
  return messages.map((message, index) => ({ ...(index === 0 ? event : {}), data: JSON.stringify(message) }));
}

/** One message or none. */
function tidyMessage(value: unknown, { owner, isBusy }: StreamReader): unknown[] {
  const read = readMessage(value);
  switch (read.kind) {
    case 'noise':
      return [value];
    case 'malformed': {
      const id = read.id ?? owner;
      return [id === undefined ? value : localAnswer(id, 'malformed')];
    }
    case 'message': {
      const { message } = read;
      if ('method' in message) return 'id' in message && isBusy() ? [] : [message];
      const tellsId = typeof message.id === 'string' || Number.isInteger(message.id);
      return [tellsId || owner === undefined ? message : localAnswer(owner, 'malformed')];
    }
  }
}
