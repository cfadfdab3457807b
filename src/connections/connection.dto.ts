import { IsArray, IsObject } from 'class-validator';
import type { Lifecycle, SessionScope, Transport } from '../database.schema.js';
import {
  BooleanField,
  BooleanQueryField,
  ChoiceField,
  IntegerField,
  NestedField,
  SchemaField,
  TextField,
} from '../field.decorators.js';
import { PageQuery } from '../pagination.js';
import {
  EnvironmentVariableBody,
  HeaderBody,
  MAX_HEADER_VALUE,
  PRINTABLE,
  PRINTABLE_HINT,
  QueryParameterBody,
} from './connection-entries.dto.js';
import { connectionDefaults as defaults } from './connection.settings.js';
import { liveStates, type LiveStateName } from './session/live-state.js';

export const MAX_ARGUMENTS = 100;
export const MAX_ARGUMENT_LENGTH = 2_000;
export const MAX_SECRET_NAME = 128;
const MAX_TOOL_NAME = 512;
const MAX_TOOL_FILTER = 5_000;
const MAX_MILLISECONDS = 300_000;

const ID = /^[A-Za-z0-9._-]{1,96}$/;
/** At least one character that is not blank; blanks at the edges are part of the name. */
const NAME = /^(?=.*\S)[^\p{Cc}\p{Surrogate}]*$/u;

/** Whether text can be the id of a connection at all. */
export function isConnectionId(text: string): boolean {
  return ID.test(text);
}

const argumentsSchema = {
  type: 'array',
  maxItems: MAX_ARGUMENTS,
  items: {
    oneOf: [
      { type: 'string', maxLength: MAX_ARGUMENT_LENGTH },
      {
        type: 'object',
        required: ['secret'],
        properties: {
          secret: {
            type: 'string',
            minLength: 1,
            maxLength: MAX_SECRET_NAME,
            description: 'Name of the secret argument',
          },
          value: { type: 'string', nullable: true, maxLength: MAX_ARGUMENT_LENGTH, writeOnly: true },
          configured: { type: 'boolean', description: 'As answered; ignored here' },
        },
      },
    ],
  },
};

/** An argument that is a secret; without `value` the stored one stays. */
export interface SecretArgumentBody {
  secret: string;
  value?: string | null;
}

/** What an operator may set at any time; `null` is the default of a field. */
export class ConnectionFields {
  @TextField({
    optional: true,
    nullable: true,
    min: 1,
    max: 2_048,
    description:
      'For http: absolute http(s) URL without userinfo and fragment. Answered as saved, so secrets belong in `queryParameters`',
  })
  baseUrl?: string | null;

  @NestedField(() => QueryParameterBody, {
    optional: true,
    nullable: true,
    maxItems: 50,
    description: 'For http: secret query parameters added to `baseUrl`',
  })
  queryParameters?: QueryParameterBody[] | null;

  @TextField({
    optional: true,
    nullable: true,
    max: MAX_HEADER_VALUE,
    secret: true,
    description:
      'For http: sent as `Authorization: Bearer`; a `Bearer` before it is dropped. Blank: unchanged; null: cleared',
  })
  apiKey?: string | null;

  @NestedField(() => HeaderBody, {
    optional: true,
    nullable: true,
    maxItems: 50,
    description: 'For http: further secret headers, unique case-insensitively',
  })
  headers?: HeaderBody[] | null;

  @TextField({
    optional: true,
    nullable: true,
    min: 1,
    max: 240,
    pattern: NAME,
    patternHint: 'must not be blank or contain control characters',
    description: 'For stdio: the executable, looked up on the PATH of the service; never a shell line',
  })
  command?: string | null;

  @SchemaField({
    optional: true,
    nullable: true,
    schema: argumentsSchema,
    validators: [IsArray({ message: 'must be a list' })],
    description: 'For stdio; an element may be a sealed, write-only `{secret, value}`',
  })
  args?: (string | SecretArgumentBody)[] | null;

  @TextField({
    optional: true,
    nullable: true,
    min: 1,
    max: 4_096,
    pattern: NAME,
    patternHint: 'must not be blank or contain control characters',
    description: 'For stdio: working directory; default a private empty one',
  })
  cwd?: string | null;

  @NestedField(() => EnvironmentVariableBody, {
    optional: true,
    nullable: true,
    maxItems: 200,
    description: 'For stdio: the set of variables; one left out of a supplied set is deleted',
  })
  environmentVariables?: EnvironmentVariableBody[] | null;

  @ChoiceField({ optional: true, nullable: true, choices: ['ephemeral', 'keep_alive'], default: defaults.lifecycle })
  lifecycle?: Lifecycle | null;

  @BooleanField({ optional: true, nullable: true, default: defaults.enabled })
  enabled?: boolean | null;

  @IntegerField({ optional: true, nullable: true, min: 1, max: MAX_MILLISECONDS, default: defaults.connectTimeoutMs })
  connectTimeoutMs?: number | null;

  @IntegerField({ optional: true, nullable: true, min: 1, max: MAX_MILLISECONDS, default: defaults.callTimeoutMs })
  callTimeoutMs?: number | null;

  @IntegerField({ optional: true, nullable: true, min: 1, max: 64, default: defaults.maxConcurrentCalls })
  maxConcurrentCalls?: number | null;

  @IntegerField({
    optional: true,
    nullable: true,
    min: 1_000,
    max: 10_000_000,
    default: defaults.maxResultChars,
    description: 'Text of a result beyond this is cut, characters',
  })
  maxResultChars?: number | null;

  @ChoiceField({
    optional: true,
    nullable: true,
    choices: ['connection', 'agent'],
    default: defaults.sessionScope,
    description: '`agent`: with keep_alive, a session per agent',
  })
  sessionScope?: SessionScope | null;

  @IntegerField({ optional: true, nullable: true, min: 1, max: 64, default: defaults.maxSessions })
  maxSessions?: number | null;

  @TextField({
    optional: true,
    nullable: true,
    maxItems: 100,
    min: 1,
    max: 96 + 1 + MAX_TOOL_NAME,
    pattern: PRINTABLE,
    patternHint: PRINTABLE_HINT,
    default: [],
    description:
      '`<connection id>` or `<connection id>/<tool>`: where values sealed by this connection may go besides back to it',
  })
  sealedAudience?: string[] | null;

  @SchemaField({
    optional: true,
    nullable: true,
    schema: { type: 'object', required: ['type'], properties: { type: { type: 'string' } } },
    validators: [IsObject({ message: 'must be an object' })],
    description: 'Reserved; use `apiKey` for bearer authentication',
  })
  auth?: Record<string, unknown> | null;

  @TextField({
    optional: true,
    nullable: true,
    maxItems: MAX_TOOL_FILTER,
    min: 1,
    max: MAX_TOOL_NAME,
    pattern: PRINTABLE,
    patternHint: PRINTABLE_HINT,
    description: 'Exact tool names; null: every tool',
  })
  allowTools?: string[] | null;

  @TextField({
    optional: true,
    nullable: true,
    maxItems: MAX_TOOL_FILTER,
    min: 1,
    max: MAX_TOOL_NAME,
    pattern: PRINTABLE,
    patternHint: PRINTABLE_HINT,
    description: 'Exact tool names removed after `allowTools`',
  })
  denyTools?: string[] | null;

  @BooleanField({
    optional: true,
    nullable: true,
    default: defaults.sealsValues,
    description: 'This provider may send sealed-value envelopes',
  })
  sealsValues?: boolean | null;
}

const nameField = { min: 1, max: 120, pattern: NAME, patternHint: 'must not be blank or contain control characters' };

export class CreateConnectionBody extends ConnectionFields {
  @TextField({
    optional: true,
    nullable: true,
    min: 1,
    max: 96,
    pattern: ID,
    patternHint: 'must be letters, digits, dots, underscores and hyphens',
    description: 'Default: a slug of the name, made unique. Cannot change',
  })
  id?: string | null;

  @TextField({ ...nameField, description: 'Unique as spelled' })
  name: string;

  @ChoiceField({ choices: ['http', 'stdio'], description: 'Cannot change' })
  transport: Transport;
}

export class ChangeConnectionBody extends ConnectionFields {
  @TextField({ optional: true, max: 96, description: 'Cannot change; the same value is accepted' })
  id?: string;

  @TextField({ ...nameField, optional: true, description: 'Unique as spelled' })
  name?: string;

  @ChoiceField({ optional: true, choices: ['http', 'stdio'], description: 'Cannot change; the same value is accepted' })
  transport?: Transport;
}

export class CreateConnectionQuery {
  @BooleanQueryField({ description: 'Discover the catalog at once; a failure is answered as a warning' })
  discover?: 'true' | 'false';
}

export class ConnectionQuery extends PageQuery {
  @TextField({ optional: true, max: 200, description: 'Part of the id or name, in any case' })
  query?: string;

  @BooleanQueryField()
  enabled?: 'true' | 'false';

  @ChoiceField({ optional: true, choices: liveStates, description: 'Live state on the replica that answers' })
  state?: LiveStateName;
}
