/** A query parameter of this kind belongs into `queryParameters`, where it is sealed. */
const SECRET_LOOKING = /(key|token|secret|password|passwd|credential|signature|auth)/i;

/** What is wrong with a base URL, without repeating it; undefined when it is fine. */
export function baseUrlProblem(text: string): string | undefined {
  // The URL parser would silently drop line breaks and blanks, and the URL is answered as saved.
  if (/[\s\p{Cc}\p{Surrogate}]/u.test(text)) return 'must not contain blanks or control characters';
  if (!/^https?:\/\/[^/]/i.test(text) || !URL.canParse(text)) return 'must be an absolute http or https URL';
  const { username, password } = new URL(text);
  if (username !== '' || password !== '' || /^https?:\/\/[^/?#\\]*@/i.test(text)) {
    return 'must not contain a user name or password; use apiKey or headers';
  }
  return text.includes('#') ? 'must not contain a fragment' : undefined;
}

/** Names of query parameters in a base URL that look as if they held a secret. */
export function secretLookingParameters(baseUrl: string): string[] {
  return [...new Set(new URL(baseUrl).searchParams.keys())].filter((name) => SECRET_LOOKING.test(name));
}

/** The URL to call: the base URL, its own query left as written, with further parameters added. */
export function withQueryParameters(baseUrl: string, parameters: readonly (readonly [string, string])[]): string {
  const url = new URL(baseUrl);
  const pairs = parameters.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
  url.search = [url.search.slice(1), ...pairs].filter((part) => part !== '').join('&');
  return url.href;
}
