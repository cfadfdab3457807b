import type { Response as UndiciResponse } from 'undici';
import { displayUrl } from './display-url.js';
import { OutboundError } from './outbound-error.js';
import { limitedBody } from './safe-fetch.body.js';

/** Statuses whose answers have no body (Fetch standard, "null body status"). */
const withoutBody: ReadonlySet<number> = new Set([101, 103, 204, 205, 304]);

/**
 * undici's answer as the platform's own `Response`, which callers test for, with its body bounded.
 *
 * @throws OutboundError `message_too_large` at once when the announced length is over the bound, `http_error` for a
 *   status that is none
 */
export async function limitedResponse(
  answer: UndiciResponse,
  request: { url: URL; redirected: boolean; bodyBytes: number },
  translate: (error: unknown) => Error,
): Promise<Response> {
  const where = displayUrl(request.url);
  const isEventStream = mediaTypeOf(answer.headers.get('content-type')) === 'text/event-stream';
  const refusal = refusalOf(answer, isEventStream ? Infinity : request.bodyBytes, where);
  if (refusal !== undefined) {
    await answer.body?.cancel().catch(() => undefined);
    throw refusal;
  }
  const source = withoutBody.has(answer.status) ? null : (answer.body as ReadableStream<Uint8Array> | null);
  const body =
    source === null ? null : limitedBody(source, { bytes: request.bodyBytes, isEventStream, where }, translate);
  const response = new Response(body, {
    status: answer.status,
    statusText: answer.statusText,
    headers: [...answer.headers],
  });
  // A constructed Response has neither; callers resolve relative locations against `url`.
  Object.defineProperty(response, 'url', { value: request.url.href });
  Object.defineProperty(response, 'redirected', { value: request.redirected });
  return response;
}

function refusalOf(answer: UndiciResponse, bodyBytes: number, where: string): OutboundError | undefined {
  if (answer.status > 599) return new OutboundError('http_error', `${where}: no valid HTTP status`, 'maybe');
  const announced = Number(answer.headers.get('content-length') ?? 0);
  // With a content encoding the announced length is the smaller one, so over the bound is over it in either case.
  if (announced <= bodyBytes) return undefined;
  return new OutboundError(
    'message_too_large',
    `${where}: the answer is larger than ${String(bodyBytes)} bytes`,
    'maybe',
  );
}

function mediaTypeOf(contentType: string | null): string {
  return (contentType ?? '').split(';', 1).join('').trim().toLowerCase();
}
