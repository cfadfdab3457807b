import { type FetchLike, SdkError, SdkErrorCode } from '@modelcontextprotocol/client';
import { tidyEvents } from './tidy-events.js';
import { readMessage } from './read-message.js';
import { requestIdOf } from './request-id.js';

/** How long the answer to what is no request may take to end, milliseconds; until then its socket serves nothing else. */
const ACCEPTED_MS = 1_000;

export interface Reading {
  /** Whether what comes back answers the request that was sent, or answers come on the common stream only. */
  answers: 'come-back' | 'come-elsewhere';
  /** Whether what the provider asks is passed over for now. */
  isBusy: () => boolean;
}

/**
 * A fetch whose answers the protocol client can read where they have one meaning; it would refuse a whole message for a
 * member of its envelope that is null, and drop an event that is no message without a word. Whatever needs no change
 * passes as it came. Where no answer comes back, no body is waited for: it might not end. Errors: `SdkError` for an answer
 * to a request that has no body.
 */
export function tidying(fetch: FetchLike, { answers, isBusy }: Reading): FetchLike {
  return async (url, init) => {
    const response = await fetch(url, init);
    const owner = answers === 'come-back' ? requestIdOf(init?.body) : undefined;
    const type = response.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
    const { status, statusText, headers, body } = response;
    if (init?.method === 'POST' && owner === undefined && response.ok) {
      if (body !== null) void letGo(body);
      return new Response(null, { status, statusText, headers });
    }
    if (type === 'text/event-stream' && body !== null)
      return new Response(tidyEvents(body, { owner, isBusy }), { status, statusText, headers });
    const owesBody = owner !== undefined && response.ok;
    const isJson = type === 'application/json' && body !== null;
    if (!isJson && !(owesBody && (type === undefined || status === 202))) return response;
    const text = await response.text();
    if (owesBody && text.trim() === '') throw emptyAnswer();
    return new Response(isJson ? tidyJson(text) : text, { status, statusText, headers });
  };
}

/** Nobody reads it. Its socket is of further use when it ends soon. */
async function letGo(body: NonNullable<Response['body']>): Promise<void> {
  const signal = AbortSignal.timeout(ACCEPTED_MS);
  await body.pipeTo(new WritableStream(), { signal }).catch(() => undefined);
}

/** The same JSON text, its messages tidied. */
function tidyJson(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    const messages: unknown[] = Array.isArray(value) ? value : [value];
    const tidy = messages.map(tidyOne);
    if (tidy.every((one, index) => one === messages[index])) return text;
    return JSON.stringify(Array.isArray(value) ? tidy : tidy[0]);
  } catch {
    return text;
  }
}

/** What is no message stays: the protocol client says so at once. */
function tidyOne(value: unknown): unknown {
  const read = readMessage(value);
  return read.kind === 'message' ? read.message : value;
}

function emptyAnswer(): SdkError {
  return new SdkError(SdkErrorCode.ClientHttpUnexpectedContent, 'The body of its answer is empty.');
}
