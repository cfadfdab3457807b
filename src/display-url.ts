/**
 * A URL as it may be shown in errors, logs, events and receipts: without userinfo, query and fragment, any of which may
 * hold a secret. Text that is no URL is not echoed at all, since it may hold one as well.
 */
export function displayUrl(url: string | URL): string {
  const parsed = typeof url === 'string' ? parse(url) : url;
  if (parsed === undefined) return '(not a URL)';
  // Only `scheme://authority/path` is known to keep secrets elsewhere; `data:` and the like are all content.
  if (parsed.host === '') return `${parsed.protocol}(hidden)`;
  return `${parsed.protocol}//${parsed.host}${parsed.pathname}`;
}

function parse(url: string): URL | undefined {
  try {
    return new URL(url);
  } catch {
    return undefined;
  }
}
