import type { CallProtection } from '../database.schema.js';
import type { Redactor } from '../redactor.js';
import type { ToolResult } from './tool-result.js';

/** Masks every known secret in a result; the answer says how many places were masked. */
export function protectResult(
  result: ToolResult,
  redactor: Redactor,
): { result: ToolResult; protection: CallProtection } {
  const { value, count } = redactor.json(result);
  return {
    result: value as ToolResult,
    protection: { status: count > 0 ? 'redacted' : 'clean', redacted: count, sealed: 0, types: [] },
  };
}

/** Protection of an answer that holds nothing from a provider. */
export const untouched: CallProtection = { status: 'clean', redacted: 0, sealed: 0, types: [] };
