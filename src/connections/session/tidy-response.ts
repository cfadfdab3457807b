import type { FetchLike, JSONRPCMessage } from '@modelcontextprotocol/client';
import { tidied } from './tidy-message.js';

/** Members of an envelope that the protocol client refuses when they are null. */
const SUSPECT = /"(?:_meta|params)"\s*:\s*null/;
const LINE_END = /\r\n|\r|\n/;
const EVENT_END = /(?:\r\n|\n|\r(?!\n))(?:\r\n|\n|\r)/g;
/** Characters that may belong to an end which is not there in full yet. */
const LONGEST_END = 3;

/**
 * A fetch whose answers the protocol client can read though members of their envelopes are null; it would refuse the
 * whole message. Whatever needs no change passes as it came.
 */
export function tidying(fetch: FetchLike): FetchLike {
  return async (url, init) => {
    const response = await fetch(url, init);
    if (response.body === null) return response;
    const { status, statusText, headers } = response;
    switch (headers.get('content-type')?.split(';')[0]?.trim().toLowerCase()) {
      case 'application/json':
        return new Response(tidyJson(await response.text()), { status, statusText, headers });
      case 'text/event-stream':
        return new Response(tidyEvents(response.body), { status, statusText, headers });
      default:
        return response;
    }
  };
}

/** The same JSON text, without members of its messages' envelopes that are null. */
function tidyJson(text: string): string {
  if (!SUSPECT.test(text)) return text;
  try {
    const value = JSON.parse(text) as JSONRPCMessage | JSONRPCMessage[] | null;
    if (Array.isArray(value)) return JSON.stringify(value.map((one) => tidied(one)));
    return typeof value === 'object' && value !== null ? JSON.stringify(tidied(value)) : text;
  } catch {
    return text;
  }
}

function tidyEvents(body: NonNullable<Response['body']>): ReadableStream<Uint8Array> {
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
        controller.enqueue(tidyEvent([...begun, seen.slice(start, end)].join('')));
        begun = [];
        start = end;
      }
      begun.push(seen.slice(start));
      before = seen.slice(-LONGEST_END);
    },
    flush: (controller) => controller.enqueue(tidyEvent(begun.join(''))),
  });
  return body.pipeThrough(new TextDecoderStream()).pipeThrough(events).pipeThrough(new TextEncoderStream());
}

function tidyEvent(event: string): string {
  const lines = event.split(LINE_END);
  const isData = (line: string): boolean => line.startsWith('data:');
  const data = lines
    .filter(isData)
    .map((line) => line.slice(5).replace(/^ /, ''))
    .join('\n');
  const tidy = tidyJson(data);
  return tidy === data
    ? event
    : [...lines.filter((line) => line !== '' && !isData(line)), `data: ${tidy}\n\n`].join('\n');
}
