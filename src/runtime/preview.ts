import type { Redactor } from '../redactor.js';
import { toStorableText } from '../storable-text.js';

/** The first characters of a value as JSON, redacted before it is cut; null when previews are off. */
export function previewOf(value: unknown, redactor: Redactor, maximum: number): string | null {
  if (maximum === 0) return null;
  const redacted = redactor.json(value).value;
  const text = toStorableText(JSON.stringify(redacted) ?? '');
  // half a surrogate pair at the cut could not be stored
  return text.length <= maximum ? text : `${text.slice(0, maximum).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
