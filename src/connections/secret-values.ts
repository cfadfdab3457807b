import type { SecretKind } from '../database.schema.js';
import type { SecretFlag } from './connection.record.js';

/** Shorter values are not looked for in what providers say: masking them would eat ordinary text. */
const MIN_REDACTED_LENGTH = 8;

/** RFC 9110 field-value: visible ASCII, obs-text, blanks and tabs between them; what the HTTP client writes unchanged. */
const HEADER_TEXT = /^[\t\x20-\x7e\x80-\xff]*$/;
/** A bearer token is ASCII; a receiver would read other bytes in one encoding or another. */
const KEY_TEXT = /^[\t\x20-\x7e]*$/;
/** Whoever copies a key often copies the scheme before it, which is added when the key is sent. */
const COPIED_SCHEME = /^bearer +(?=.)/i;
/** A receiver drops blanks at the edges, and would then know another value than the one that is masked. */
const EDGE_BLANK = /^[\t ]|[\t ]$/;

const PLACEHOLDER = /\$\{[^{}]{1,200}\}/;

/** What is wrong with a secret value of this kind, without repeating it; undefined when it is fine. */
export function valueProblem(kind: SecretKind, value: string): string | undefined {
  if (value.includes('\0')) return 'must not contain a NUL character';
  if (/\p{Surrogate}/u.test(value)) return 'must not contain an unpaired surrogate';
  if (value === '' && (kind === 'header' || kind === 'query_parameter')) return 'must not be empty';
  if (kind !== 'header' && kind !== 'api_key') return undefined;
  if (kind === 'api_key' && HEADER_TEXT.test(value) && !KEY_TEXT.test(value))
    return 'must not contain characters beyond ASCII';
  if (!HEADER_TEXT.test(value)) return 'must not contain line breaks or other characters that a header cannot hold';
  return EDGE_BLANK.test(value) ? 'must not begin or end with a blank' : undefined;
}

/** A key without the scheme it is sent with. */
export function bareKey(apiKey: string): string {
  return apiKey.replace(COPIED_SCHEME, '');
}

/** What can be said about a value later without opening it. */
export function flagsOf(value: string): SecretFlag[] {
  const flags: SecretFlag[] = [];
  if (hasPlaceholder(value)) flags.push('placeholder');
  // An empty value holds nothing to mask; blanks at the edges are often dropped by whoever reads it.
  if (value !== '' && value.trim().length < MIN_REDACTED_LENGTH) flags.push('short');
  return flags;
}

/** Whether text looks as if its writer expected `${NAME}` to be replaced. */
export function hasPlaceholder(text: string): boolean {
  return PLACEHOLDER.test(text);
}

/** Schemes that stand before the credentials in headers of any name. */
const SCHEMES = /^(basic|bearer|token|jwt|api-?key|key)$/i;

/**
 * What of a secret is masked in everything a provider says: the value, and what a provider sees of a header once it took
 * it apart, be it credentials behind a scheme or cookies.
 */
export function maskedParts(kind: SecretKind, name: string, value: string): string[] {
  if (kind !== 'header') return [value];
  if (/^cookie$/i.test(name)) return [value, ...cookieValues(value)];
  const [, scheme, credentials] = /^(\S+)[ \t]+(\S.*)$/.exec(value) ?? [];
  if (scheme === undefined || credentials === undefined) return [value];
  if (!/^(proxy-)?authorization$/i.test(name) && !SCHEMES.test(scheme)) return [value];
  if (scheme.toLowerCase() !== 'basic') return [value, credentials];
  const userAndPassword = Buffer.from(credentials, 'base64').toString('utf8');
  return [value, credentials, userAndPassword, userAndPassword.slice(userAndPassword.indexOf(':') + 1)];
}

function cookieValues(header: string): string[] {
  return header.split(';').map((cookie) => cookie.slice(cookie.indexOf('=') + 1).replaceAll(/^[\s"]+|[\s"]+$/g, ''));
}
