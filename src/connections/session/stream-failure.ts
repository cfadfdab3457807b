import type { FetchLike } from '@modelcontextprotocol/client';
import { requestIdOf } from './request-id.js';

/** Told which request an event stream was the answer to, and the error it broke off with. */
type StreamFailure = (requestId: string | number, error: unknown) => void;

/**
 * A fetch that tells when the event stream that answers a request breaks off, before whoever reads the stream learns of
 * it: the SDK's transport keeps only the words of the error.
 */
export function tellingStreamFailures(fetch: FetchLike, tell: StreamFailure): FetchLike {
  return async (url, init) => {
    const response = await fetch(url, init);
    const { body } = response;
    if (body === null || !/^\s*text\/event-stream\b/i.test(response.headers.get('content-type') ?? '')) return response;
    const requestId = requestIdOf(init?.body);
    if (requestId === undefined) return response;
    // a Response cannot be given another body, and a new one would not know its URL
    const watched = watchedBody(body, (error) => tell(requestId, error));
    return Object.defineProperty(response, 'body', { value: watched });
  };
}

function watchedBody(body: ReadableStream<Uint8Array>, failed: (error: unknown) => void): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (done) controller.close();
          else controller.enqueue(value);
        } catch (error) {
          failed(error);
          controller.error(error);
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    // nothing is read ahead of the consumer
    { highWaterMark: 0 },
  );
}
