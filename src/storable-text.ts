import { mapJsonStrings } from './json-strings.js';

/** U+2400, the picture of NUL: PostgreSQL stores no NUL in text or jsonb, and a reader should see where one was. */
const NUL_PICTURE = '\u2400';
const REPLACEMENT = '\ufffd';
const UNSTORABLE = /\0|\p{Surrogate}/u;
const NULS = /\0/g;
const LONE_SURROGATES = /\p{Surrogate}/gu;

/** The text as PostgreSQL can store it: NUL becomes U+2400 (a visible `␀`), each lone surrogate U+FFFD. */
export function toStorableText(text: string): string {
  if (!UNSTORABLE.test(text)) return text;
  return text.replace(NULS, NUL_PICTURE).replace(LONE_SURROGATES, REPLACEMENT);
}

/**
 * The same for every string and member name of a JSON value; `changed` tells whether anything was replaced. The
 * given value itself is never changed.
 * @throws {RangeError} as `mapJsonStrings` does
 */
export function toStorableJson(value: unknown): { value: unknown; changed: boolean } {
  const storable = mapJsonStrings(value, toStorableText);
  return { value: storable, changed: !Object.is(storable, value) };
}
