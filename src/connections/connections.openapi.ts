import type { ProblemCode } from '../errors.js';

const ruleProblems = [
  'header_reserved',
  'connection_name_conflict',
  'secret_value_required',
  'auth_type_unsupported',
  'stdio_not_allowed',
  'environment_variable_reserved',
  'sealed_audience_unknown',
] as const satisfies ProblemCode[];

/** What creating a connection can be refused with. */
export const createProblems: readonly ProblemCode[] = [...ruleProblems, 'connection_conflict'];

/** What changing a connection can be refused with. */
export const changeProblems: readonly ProblemCode[] = [
  ...ruleProblems,
  'connection_not_found',
  'stale_revision',
  'immutable_field',
  'secrets_required_for_new_origin',
  'revocation_timeout',
];

export const lifecycleProblems: readonly ProblemCode[] = ['connection_not_found', 'lifecycle_not_keep_alive'];

const texts = { type: 'object', additionalProperties: { type: 'string' } };

/** Schema of the export. */
export const exportSchema = {
  type: 'object',
  required: ['mcpServers'],
  properties: {
    mcpServers: {
      type: 'object',
      description: 'By connection name',
      additionalProperties: {
        type: 'object',
        required: ['type'],
        properties: {
          type: { type: 'string', enum: ['stdio', 'http'] },
          command: { type: 'string' },
          args: { type: 'array', items: { type: 'string' } },
          cwd: { type: 'string' },
          env: texts,
          url: { type: 'string' },
          headers: texts,
          disabled: { type: 'boolean' },
        },
      },
    },
  },
};
