import { OutboundError } from './outbound-error.js';

/** A request in a form that can be sent more than once, as redirects and admissions need it. */
export interface ReplayableRequest {
  method: string;
  headers: [string, string][];
  body: Buffer | null;
}

/**
 * The URL a request goes to.
 *
 * @throws OutboundError `egress_denied` for anything but http and https, or with userinfo
 */
export function outboundUrl(input: string | URL): URL {
  if (!URL.canParse(String(input))) throw new OutboundError('egress_denied', 'the URL is not valid');
  const url = new URL(String(input));
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new OutboundError('egress_denied', `only http and https URLs are fetched, not ${url.protocol}`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new OutboundError('egress_denied', `${url.host}: a URL must not carry userinfo`);
  }
  return url;
}

/** Takes what the standard `fetch` takes, except bodies that can be read only once. */
export function replayableRequest(init: RequestInit): ReplayableRequest {
  const headers = new Headers(init.headers);
  const { body, contentType } = bodyOf(init.body);
  if (contentType !== undefined && !headers.has('content-type')) headers.set('content-type', contentType);
  if (!headers.has('user-agent')) headers.set('user-agent', 'warren');
  return { method: init.method ?? 'GET', headers: [...headers], body };
}

function bodyOf(body: RequestInit['body']): { body: Buffer | null; contentType?: string } {
  if (body === null || body === undefined) return { body: null };
  if (typeof body === 'string') return { body: Buffer.from(body), contentType: 'text/plain;charset=UTF-8' };
  if (body instanceof URLSearchParams) {
    return { body: Buffer.from(body.toString()), contentType: 'application/x-www-form-urlencoded;charset=UTF-8' };
  }
  if (ArrayBuffer.isView(body)) return { body: Buffer.from(body.buffer, body.byteOffset, body.byteLength) };
  if (body instanceof ArrayBuffer) return { body: Buffer.from(body) };
  throw new TypeError('a request body must be text, bytes or URLSearchParams, so that it can be sent again');
}
