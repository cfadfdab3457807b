import { RE2JS } from 're2js';
import type { WorkBudget } from './work-budget.js';

/** Instructions of a compiled pattern; matching costs at most this times the length of the text. */
const MAX_PROGRAM = 5_000;
const MAX_SOURCE = 2_000;

/** Instructions of all patterns of one schema together. */
export const MAX_PROGRAM_TOTAL = 20_000;

/** A compiled pattern in the form the schema validator wants. */
export interface LinearPattern {
  /** Instructions. */
  readonly size: number;
  test(text: string): boolean;
  toString(): string;
}

/**
 * Compiles an ECMAScript pattern for an engine whose time is linear in the text, whatever the pattern.
 * Undefined when that engine cannot (look-around, back-references, huge repeats): the caller skips the keyword.
 */
export function compileLinearPattern(source: string, budget: WorkBudget): LinearPattern | undefined {
  if (source.length > MAX_SOURCE) return undefined;
  try {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(source));
    const size = compiled.programSize();
    if (size > MAX_PROGRAM) return undefined;
    return {
      size,
      test: (text) => {
        budget.spend(10 + Math.ceil((text.length * size) / 200));
        return compiled.test(text);
      },
      toString: () => source,
    };
  } catch {
    return undefined;
  }
}
