import { ValidationPipe, type ValidationError } from '@nestjs/common';
import { ProblemError, type FieldProblem } from './errors.js';

const MAX_FIELD_PROBLEMS = 100;

/** Checks bodies and queries against their classes: unknown fields are errors too, one entry per field. */
export function validationPipe(): ValidationPipe {
  return new ValidationPipe({
    transform: true,
    whitelist: true,
    forbidNonWhitelisted: true,
    forbidUnknownValues: true,
    validationError: { target: false, value: false },
    exceptionFactory: (errors) => {
      const problems = errors.flatMap((error) => flatten(error, '')).slice(0, MAX_FIELD_PROBLEMS);
      const named = problems.map(({ path, message }) => (path === '' ? message : `${path} ${message}`));
      return new ProblemError('validation_failed', named.slice(0, 3).join('; ') || 'The request is not valid.', { errors: problems });
    },
  });
}

function flatten(error: ValidationError, parent: string): FieldProblem[] {
  const path = pathOf(parent, error.property);
  const own = Object.entries(error.constraints ?? {}).map(([rule, message]) => ({
    path,
    message: rule === 'whitelistValidation' ? 'is not a field of this request' : rule === 'unknownValue' ? 'must be an object' : message,
  }));
  // several rules say the same about a value of the wrong type: one sentence is enough
  const distinct = own.filter(({ message }, index) => own.findIndex((other) => other.message === message) === index);
  return [...distinct.slice(-1), ...(error.children ?? []).flatMap((child) => flatten(child, path))];
}

function pathOf(parent: string, property: string | undefined): string {
  if (property === undefined || property === 'undefined') return parent;
  if (/^\d+$/.test(property)) return `${parent}[${property}]`;
  return parent === '' ? property : `${parent}.${property}`;
}
