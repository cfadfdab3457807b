import { localAnswer } from './local-error.js';
import { readMessage } from './read-message.js';

type RequestId = string | number;

const LINE_END = /\r\n|\r|\n/;
const EVENT_END = /(?:\r\n|\n|\r(?!\n))(?:\r\n|\n|\r)/g;
/** Characters that may belong to an end which is not there in full yet. */
const LONGEST_END = 3;

/**
 * An event stream whose messages the protocol client can read. What cannot be read fails the request that it answers, or
 * that the whole stream belongs to (`owner`), by an error of our own in its place; on a stream of nobody it is noise.
 */
export function tidyEvents(
  body: NonNullable<Response['body']>,
  owner: RequestId | undefined,
): ReadableStream<Uint8Array> {
  let begun: string[] = [];
  // an event's end may be cut in pieces
  let before = '';
  const events = new TransformStream<string, string>({
    transform: (chunk, controller) => {
      const seen = before + chunk;
      let start = before.length;
      for (const found of seen.matchAll(EVENT_END)) {
        const end = found.index + found[0].length;
        if (end <= start) continue;
        controller.enqueue(tidyEvent([...begun, seen.slice(start, end)].join(''), owner));
        begun = [];
        start = end;
      }
      begun.push(seen.slice(start));
      before = seen.slice(-LONGEST_END);
    },
    // an event without its end was cut off, and tells nothing
    flush: (controller) => controller.enqueue(begun.join('')),
  });
  return body.pipeThrough(new TextDecoderStream()).pipeThrough(events).pipeThrough(new TextEncoderStream());
}

function tidyEvent(event: string, owner: RequestId | undefined): string {
  const lines = event.split(LINE_END).filter((line) => line !== '');
  const { data, others, isMessage } = readFields(lines);
  if (!isMessage || data === '') return event;
  const messages = tidyMessages(data, owner);
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
function tidyMessages(data: string, owner: RequestId | undefined): unknown[] | undefined {
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch {
    return owner === undefined ? undefined : [localAnswer(owner, 'malformed')];
  }
  // the protocol client reads one message an event
  if (Array.isArray(value) && value.length > 0) return value.map((one) => tidyMessage(one, owner));
  const tidy = tidyMessage(value, owner);
  return tidy === value ? undefined : [tidy];
}

function tidyMessage(value: unknown, owner: RequestId | undefined): unknown {
  const read = readMessage(value);
  switch (read.kind) {
    case 'noise':
      return value;
    case 'malformed': {
      const id = read.id ?? owner;
      return id === undefined ? value : localAnswer(id, 'malformed');
    }
    case 'message': {
      const { message } = read;
      const tellsId = 'method' in message || typeof message.id === 'string' || Number.isInteger(message.id);
      return tellsId || owner === undefined ? message : localAnswer(owner, 'malformed');
    }
  }
}
