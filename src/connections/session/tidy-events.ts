import { setImmediate as nextTurn } from 'node:timers/promises';
import { localAnswer } from './local-error.js';
import { readMessage } from './read-message.js';

type RequestId = string | number;

const LINE_END = /\r\n|\r|\n/;
const EVENT_END = /(?:\r\n|\n|\r(?!\n))(?:\r\n|\n|\r)/g;
/** Characters that may belong to an end which is not there in full yet. */
const LONGEST_END = 3;
/** After so many events at once others have their turn. */
const MOST_IN_A_TURN = 100;

export interface StreamReader {
  /** The request that the whole stream belongs to. */
  owner?: RequestId | undefined;
  /** Whether what the provider asks is passed over for now. */
  isBusy: () => boolean;
}

/**
 * An event stream whose messages the protocol client can read. What cannot be read fails the request that it answers, or
 * that the whole stream belongs to, by an error of our own in its place; on a stream of nobody it is noise.
 */
export function tidyEvents(body: NonNullable<Response['body']>, reader: StreamReader): ReadableStream<Uint8Array> {
  let begun: string[] = [];
  // an event's end may be cut in pieces
  let before = '';
  const events = new TransformStream<string, string>({
    transform: async (chunk, controller) => {
      const seen = before + chunk;
      let start = before.length;
      let count = 0;
      for (const found of seen.matchAll(EVENT_END)) {
        const end = found.index + found[0].length;
        if (end <= start) continue;
        controller.enqueue(tidyEvent([...begun, seen.slice(start, end)].join(''), reader));
        begun = [];
        start = end;
        count += 1;
        if (count % MOST_IN_A_TURN === 0) await nextTurn();
      }
      begun.push(seen.slice(start));
      before = seen.slice(-LONGEST_END);
    },
    // an event without its end was cut off, and tells nothing
    flush: (controller) => controller.enqueue(begun.join('')),
  });
  return body.pipeThrough(new TextDecoderStream()).pipeThrough(events).pipeThrough(new TextEncoderStream());
}

function tidyEvent(event: string, reader: StreamReader): string {
  const lines = event.split(LINE_END).filter((line) => line !== '');
  const { data, others, isMessage } = readFields(lines);
  if (!isMessage || data === '') return event;
  const messages = tidyMessages(data, reader);
  if (messages === undefined) return event;
  return messages
    .map((message, index) => [...(index === 0 ? others : []), `data: ${JSON.stringify(message)}\n\n`].join('\n'))
    .join('');
}

function readFields(lines: readonly string[]): { data: string; others: string[]; isMessage: boolean } {
  const data: string[] = [];
  const others: string[] = [];
  let type = '';
  for (const line of lines) {
    const [, name, value = ''] = /^([^:]*):? ?([^]*)$/.exec(line) ?? [];
    if (name === 'data') data.push(value);
    else others.push(line);
    if (name === 'event') type = value;
  }
  return { data: data.join('\n'), others, isMessage: type === '' || type === 'message' };
}

/** What to hand on in place of the data of an event; undefined to leave it as it is. */
function tidyMessages(data: string, reader: StreamReader): unknown[] | undefined {
  const { owner } = reader;
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch {
    return owner === undefined ? undefined : [localAnswer(owner, 'malformed')];
  }
  // the protocol client reads one message an event
  if (Array.isArray(value) && value.length > 0) return value.flatMap((one) => tidyMessage(one, reader));
  const tidy = tidyMessage(value, reader);
  return tidy[0] === value ? undefined : tidy;
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
