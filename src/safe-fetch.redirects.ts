import { displayUrl } from './display-url.js';
import { OutboundError } from './outbound-error.js';

export const maximumRedirects = 5;

const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * Where the answer sends the request, or undefined when it is not a redirect. Only the same scheme, host and port are
 * followed, so a credential never travels to another origin.
 *
 * @throws OutboundError `redirect_refused`
 */
export function redirectTarget(status: number, location: string | null, from: URL, followed: number): URL | undefined {
  if (!redirectStatuses.has(status) || location === null) return undefined;
  const refuse = (why: string): never => {
    throw new OutboundError('redirect_refused', `${displayUrl(from)} redirects ${why}`, 'maybe');
  };
  if (!URL.canParse(location, from.href)) return refuse('to something that is not a URL');
  const target = new URL(location, from);
  if (target.origin !== from.origin) return refuse(`to another origin: ${displayUrl(target)}`);
  if (target.username !== '' || target.password !== '') return refuse('to a URL with userinfo');
  if (followed >= maximumRedirects) return refuse(`more than ${String(maximumRedirects)} times`);
  return target;
}
