import type { Ajv, ErrorObject, Options, ValidateFunction } from 'ajv';
import type { Ajv2020 } from 'ajv/dist/2020.js';
import { describeProblems, type Problem } from './argument-problems.js';
import { measureJson } from './json-measure.js';
import type { JsonObject } from './json-object.js';
import { compileLinearPattern, MAX_PROGRAM_TOTAL, type LinearPattern } from './linear-pattern.js';
import { COST_KEYWORD, prepareSchema } from './schema-preparation.js';
import { hasUniqueItems } from './unique-items.js';
import { WorkBudget } from './work-budget.js';

export type Dialect = typeof Ajv | typeof Ajv2020;

export interface CheckedSchema {
  /** What is wrong with a call's arguments: empty when they fit, at most 10 problems. Never throws. */
  validate(value: unknown): Problem[];
}

const MAX_ARGUMENT_DEPTH = 200;
/** Steps one check may take (about 50 ms); arguments that need more count as unchecked. */
const CHECK_STEPS = 1_000_000;
/** Steps for finding all problems instead of only the first. */
const DETAIL_STEPS = 50_000;
/** Stands in where preparation has not reached a pattern that is skipped. */
const ANY_TEXT: LinearPattern = { size: 0, test: () => true, toString: () => '' };

/** Arguments checked against one schema. Constructing throws whatever makes the schema unusable. */
export class SchemaCheck implements CheckedSchema {
  private readonly budget = new WorkBudget();
  private readonly patterns = new Map<string, LinearPattern | undefined>();
  private programTotal = 0;
  private readonly prepared: JsonObject;
  private readonly firstError: ValidateFunction;
  private allErrors: ValidateFunction | undefined;

  constructor(
    schema: JsonObject,
    private readonly dialect: Dialect,
  ) {
    this.prepared = prepareSchema(schema, (pattern) => this.pattern(pattern) !== undefined);
    this.firstError = this.compile({ allErrors: false });
  }

  validate(value: unknown): Problem[] {
    if (measureJson(value).depth > MAX_ARGUMENT_DEPTH) {
      return [{ path: 'arguments', message: `must not be nested more than ${MAX_ARGUMENT_DEPTH} levels deep` }];
    }
    const first = this.run(this.firstError, value, CHECK_STEPS);
    if (first === undefined || first.length === 0) return [];
    const all = this.runAll(value);
    return describeProblems(all === undefined || all.length === 0 ? first : all, value, this.prepared);
  }

  /** Compiled only when arguments do not fit, which is rare. */
  private runAll(value: unknown): ErrorObject[] | undefined {
    try {
      this.allErrors ??= this.compile({ allErrors: true, verbose: true });
    } catch {
      return undefined;
    }
    return this.run(this.allErrors, value, DETAIL_STEPS);
  }

  /** Undefined when the check could not be finished: the budget or the stack (endless references) ran out. */
  private run(check: ValidateFunction, value: unknown, steps: number): ErrorObject[] | undefined {
    this.budget.reset(steps);
    try {
      return check(value) ? [] : [...(check.errors ?? [])];
    } catch {
      return undefined;
    } finally {
      check.errors = null; // errors hold the arguments, and this lives long
    }
  }

  private compile(mode: { allErrors: boolean; verbose?: boolean }): ValidateFunction {
    const options: Options = {
      ...mode,
      messages: false,
      strict: false,
      meta: false,
      validateSchema: false,
      validateFormats: false,
      addUsedSchema: false,
      ownProperties: true,
      inlineRefs: false,
      logger: false,
      code: {
        regExp: Object.assign((source: string) => this.pattern(source) ?? ANY_TEXT, { code: '' }),
        optimize: false, // its optimizer takes time quadratic in the schema: 16 s for one of 160 KB
      },
    };
    const validator = new this.dialect(options);
    validator.removeKeyword('uniqueItems');
    validator.addKeyword({
      keyword: 'uniqueItems',
      type: 'array',
      schemaType: 'boolean',
      errors: false,
      validate: (wanted: boolean, items: unknown[]) => !wanted || hasUniqueItems(items, this.budget),
    });
    validator.addKeyword({
      keyword: COST_KEYWORD,
      before: '$ref',
      schemaType: 'number',
      errors: false,
      validate: (cost: number, value: unknown) => {
        this.budget.spend(cost + (typeof value === 'string' ? value.length >> 6 : 0));
        return true;
      },
    });
    return validator.compile(this.prepared);
  }

  private pattern(source: string): LinearPattern | undefined {
    if (!this.patterns.has(source)) this.patterns.set(source, this.compilePattern(source));
    return this.patterns.get(source);
  }

  private compilePattern(source: string): LinearPattern | undefined {
    if (this.programTotal > MAX_PROGRAM_TOTAL) return undefined;
    const compiled = compileLinearPattern(source, this.budget);
    this.programTotal += compiled?.size ?? 0;
    return compiled;
  }
}
