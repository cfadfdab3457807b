import { type ArgumentMetadata, ValidationPipe, type ValidationError } from '@nestjs/common';
import { ProblemError, type FieldProblem } from './errors.js';
import { toStorableText } from './storable-text.js';

const MAX_FIELD_PROBLEMS = 100;

/** Checks bodies and queries against their classes: unknown fields are errors too, one entry per field. */
export function validationPipe(): ValidationPipe {
  return new ObjectPipe({
    transform: true,
    whitelist: true,
    forbidNonWhitelisted: true,
    forbidUnknownValues: true,
    validationError: { target: false, value: true },
    exceptionFactory: (errors) => {
      const problems = errors.flatMap((error) => flatten(error, '')).slice(0, MAX_FIELD_PROBLEMS);
      const named = problems.map(({ path, message }) => (path === '' ? message : `${path} ${message}`));
      return new ProblemError('validation_failed', named.slice(0, 3).join('; ') || 'The request is not valid.', {
        errors: problems,
      });
    },
  });
}

/**
 * A body or query that has a class must be an object; the pipe itself lets null and lists through. A path parameter
 * becomes storable text: PostgreSQL takes no NUL, and no id holds one, so the handler says what is not there.
 */
class ObjectPipe extends ValidationPipe {
  override async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    if (metadata.type === 'param' && typeof value === 'string') return super.transform(toStorableText(value), metadata);
    const described = metadata.metatype !== undefined && metadata.metatype !== Object && metadata.metatype !== String;
    if (!described) return super.transform(value, metadata) as Promise<unknown>;
    const given = value === undefined ? {} : value;
    if (typeof given !== 'object' || given === null || Array.isArray(given)) {
      throw new ProblemError('validation_failed', `The ${metadata.type} must be an object.`, {
        errors: [{ path: '', message: 'must be an object' }],
      });
    }
    return super.transform(given, metadata) as Promise<unknown>;
  }
}

/** The rule that says most about a wrong value comes first; one sentence a field is enough. */
const TELLING_RULES = ['whitelistValidation', 'unknownValue', 'isArray', 'isObject', 'isString', 'isInt', 'isBoolean'];

function flatten(error: ValidationError, parent: string): FieldProblem[] {
  const path = pathOf(parent, error.property);
  const rules = Object.keys(error.constraints ?? {});
  const rule = TELLING_RULES.find((telling) => rules.includes(telling)) ?? rules.at(-1);
  const own = rule === undefined ? [] : [{ path, message: messageOf(rule, error) }];
  return [...own, ...(error.children ?? []).flatMap((child) => flatten(child, path))];
}

function messageOf(rule: string, { value, property, constraints }: ValidationError): string {
  if (rule === 'whitelistValidation') return 'is not a field of this request';
  if (rule === 'unknownValue') return 'must be an object';
  if (value === undefined) return 'is required';
  // an element of a list is told of by the list's own rule
  if (rule === 'nestedValidation' && /^\d+$/.test(property)) return 'must be an object';
  return constraints?.[rule] ?? 'is not valid';
}

function pathOf(parent: string, property: string | undefined): string {
  if (property === undefined || property === 'undefined') return parent;
  if (/^\d+$/.test(property)) return `${parent}[${property}]`;
  return parent === '' ? property : `${parent}.${property}`;
}
