import { setImmediate } from 'node:timers/promises';
import type { CallProtection } from '../database.schema.js';
import { mapJsonStrings } from '../json-strings.js';
import { maskText } from '../outgoing-text.js';
import type { Redactor } from '../redactor.js';
import type { ToolResult } from './tool-result.js';

/** What is masked in one go, in UTF-16 code units: some milliseconds at worst, then everybody else has a turn. */
const SLICE_LENGTH = 65_536;
/** What a text costs besides its length, in the same unit. */
const TEXT_COST = 512;

type Masked = ReturnType<Redactor['text']>;

/**
 * Masks every known secret in a result, as the redactor does with a JSON value; the answer says how many places were
 * masked. A large result is taken in slices, between which others are served.
 */
export async function protectResult(
  result: ToolResult,
  redactor: Redactor,
): Promise<{ result: ToolResult; protection: CallProtection }> {
  const masked = await maskTexts(textsIn(result), redactor);
  let count = 0;
  const value = mapJsonStrings(result, (text) => {
    const known = masked.get(text);
    count += known?.count ?? 0;
    return known?.text ?? text;
  });
  return {
    result: value as ToolResult,
    protection: { status: count > 0 ? 'redacted' : 'clean', redacted: count, sealed: 0, types: [] },
  };
}

/** Protection of an answer that holds nothing from a provider. */
export const untouched: CallProtection = { status: 'clean', redacted: 0, sealed: 0, types: [] };

/** Every text in which the redactor would look for secrets, once. */
function textsIn(result: ToolResult): Set<string> {
  const texts = new Set<string>();
  mapJsonStrings(result, (text) => {
    texts.add(text);
    return text;
  });
  return texts;
}

/** Those of the texts that hold secrets, masked. */
async function maskTexts(texts: Iterable<string>, redactor: Redactor): Promise<Map<string, Masked>> {
  const masked = new Map<string, Masked>();
  let work = 0;
  for (const text of texts) {
    const result = text.length <= SLICE_LENGTH ? redactor.text(text) : await maskText(text, redactor);
    if (result.count > 0) masked.set(text, result);
    work += TEXT_COST + Math.min(text.length, SLICE_LENGTH);
    if (work > SLICE_LENGTH) {
      await setImmediate();
      work = 0;
    }
  }
  return masked;
}
