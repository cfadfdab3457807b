import { applyDecorators } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
  MinLength,
  ValidateBy,
  ValidateNested,
} from 'class-validator';
import { isTime } from './time.js';

/**
 * One decorator a field: it validates the field and documents it, so that a shape is written once. `optional` fields may
 * be left out; `null` then means "the default" and is documented where `nullable` is set.
 */
interface FieldOptions {
  description?: string;
  optional?: boolean;
  nullable?: boolean;
  /** The field is an array of at most this many such values. */
  maxItems?: number;
  default?: unknown;
  example?: unknown;
}

function field(options: FieldOptions, schema: ApiPropertyOptions, validators: PropertyDecorator[]): PropertyDecorator {
  const { maxItems, optional = false, nullable = false } = options;
  const documented = {
    ...schema,
    ...(options.description === undefined ? {} : { description: options.description }),
    ...(options.default === undefined ? {} : { default: options.default }),
    ...(options.example === undefined ? {} : { example: options.example }),
    ...(maxItems === undefined ? {} : { isArray: true, maxItems }),
    // a schema of an object says which of its own members are required
    ...(Array.isArray(schema.required) ? { selfRequired: !optional } : { required: !optional }),
    nullable,
  } as ApiPropertyOptions;
  return applyDecorators(
    ApiProperty(documented),
    ...(optional || nullable ? [IsOptional()] : []),
    ...(maxItems === undefined
      ? []
      : [
          IsArray({ message: 'must be a list' }),
          ArrayMaxSize(maxItems, { message: `must have at most ${maxItems} entries` }),
        ]),
    ...validators,
  );
}

const each = (options: FieldOptions): { each: boolean } => ({ each: options.maxItems !== undefined });

/** No NUL character: PostgreSQL cannot store it and no launch argument can hold it. */
function NoNul(options: { each: boolean }): PropertyDecorator {
  return ValidateBy(
    {
      name: 'noNul',
      validator: {
        validate: (value: unknown) => typeof value !== 'string' || !value.includes('\0'),
        defaultMessage: () => 'must not contain a NUL character',
      },
    },
    options,
  );
}

/** Text of `min` to `max` UTF-16 units, without NUL; `pattern` is explained by `patternHint`. */
export function TextField(
  options: FieldOptions & {
    min?: number;
    max: number;
    pattern?: RegExp;
    patternHint?: string;
    secret?: boolean;
    format?: string;
  },
): PropertyDecorator {
  const { min = 0, max, pattern } = options;
  return field(
    options,
    {
      type: 'string',
      maxLength: max,
      ...(min > 0 ? { minLength: min } : {}),
      ...(pattern ? { pattern: pattern.source } : {}),
      ...(options.format ? { format: options.format } : {}),
      ...(options.secret ? { writeOnly: true } : {}),
    },
    [
      IsString({ ...each(options), message: 'must be text' }),
      MinLength(min, { ...each(options), message: `must have at least ${min} character${min === 1 ? '' : 's'}` }),
      MaxLength(max, { ...each(options), message: `must have at most ${max} characters` }),
      NoNul(each(options)),
      ...(pattern
        ? [Matches(pattern, { ...each(options), message: options.patternHint ?? `must match ${pattern.source}` })]
        : []),
    ],
  );
}

/** A whole number in a closed range. `coerce` reads it from query text. */
export function IntegerField(
  options: FieldOptions & { min?: number; max?: number; coerce?: boolean },
): PropertyDecorator {
  const { min, max } = options;
  const range =
    min !== undefined && max !== undefined ? `must be a whole number from ${min} to ${max}` : 'must be a whole number';
  return field(
    options,
    { type: 'integer', ...(min === undefined ? {} : { minimum: min }), ...(max === undefined ? {} : { maximum: max }) },
    [
      ...(options.coerce ? [Type(() => Number)] : []),
      IsInt({ ...each(options), message: range }),
      ...(min === undefined ? [] : [Min(min, { ...each(options), message: range })]),
      ...(max === undefined ? [] : [Max(max, { ...each(options), message: range })]),
    ],
  );
}

/** A number that is only documented, for answers. */
export function NumberField(options: FieldOptions): PropertyDecorator {
  return field(options, { type: 'number' }, []);
}

/** true or false in a body. */
export function BooleanField(options: FieldOptions = {}): PropertyDecorator {
  return field(options, { type: 'boolean' }, [IsBoolean({ ...each(options), message: 'must be true or false' })]);
}

/** `true` or `false` as query text; the handler reads it with `=== 'true'`. */
export function BooleanQueryField(options: FieldOptions = {}): PropertyDecorator {
  return field({ ...options, optional: true }, { type: 'string', enum: ['true', 'false'] }, [
    IsIn(['true', 'false'], { message: 'must be true or false' }),
  ]);
}

/** One of a closed set of words. */
export function ChoiceField(options: FieldOptions & { choices: readonly string[] }): PropertyDecorator {
  return field(options, { type: 'string', enum: [...options.choices] }, [
    IsIn(options.choices, { ...each(options), message: `must be one of: ${options.choices.join(', ')}` }),
  ]);
}

/** An RFC 3339 time of the years 0001 to 9999. */
export function TimeField(options: FieldOptions = {}): PropertyDecorator {
  return field(options, { type: 'string', format: 'date-time' }, [
    ValidateBy(
      {
        name: 'isTime',
        validator: {
          validate: (value: unknown) => typeof value === 'string' && isTime(value),
          defaultMessage: () => 'must be an RFC 3339 time',
        },
      },
      each(options),
    ),
  ]);
}

/** A nested object of the given class, or an array of them with `maxItems`. */
export function NestedField(type: () => new () => object, options: FieldOptions = {}): PropertyDecorator {
  const message = options.maxItems === undefined ? 'must be an object' : 'must be a list of objects';
  // the documentation takes a lazy type only from a function of the name `type`
  return field(options, { type: () => type() }, [
    IsObject({ ...each(options), message }),
    ValidateNested({ ...each(options), message }),
    Type(type),
  ]);
}

/** Any JSON object. */
export function JsonObjectField(options: FieldOptions = {}): PropertyDecorator {
  return field(options, { type: 'object', additionalProperties: true }, [
    IsObject({ ...each(options), message: 'must be an object' }),
  ]);
}

/** A field with a documented schema and own checks, for the few shapes the others cannot say. */
export function SchemaField(
  options: FieldOptions & { schema: Record<string, unknown>; validators?: PropertyDecorator[] },
): PropertyDecorator {
  return field(options, options.schema, options.validators ?? []);
}
