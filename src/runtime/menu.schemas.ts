import { providerFailureReasons } from '../provider-failure.js';
import { callCodes } from './call-codes.js';

type Schema = Record<string, unknown>;

const text: Schema = { type: 'string' };
const flag: Schema = { type: 'boolean' };
const count: Schema = { type: 'integer', minimum: 0 };
const nullableText: Schema = { type: ['string', 'null'] };
const object = (properties: Record<string, Schema>, optional: readonly string[] = []): Schema => ({
  type: 'object',
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
});
const list = (items: Schema): Schema => ({ type: 'array', items });

const providerNames = object({ id: text, name: text });

export const protectionSchema = object({
  status: { type: 'string', enum: ['clean', 'redacted', 'sealed', 'withheld'] },
  redacted: count,
  sealed: count,
  types: list(text),
});

export const menuErrorSchema = object(
  {
    code: { type: 'string', enum: Object.keys(callCodes) },
    message: text,
    sent: {
      type: 'string',
      enum: ['no', 'maybe', 'yes'],
      description: 'Whether the request may have reached the provider',
    },
    retryable: flag,
    hint: text,
    reason: { type: 'string', enum: [...providerFailureReasons] },
    retryAfterMs: count,
    candidates: list(text),
    suggestions: { ...list(text), maxItems: 5 },
    errors: { ...list(object({ path: text, message: text })), maxItems: 10 },
    inputSchema: { type: 'object', additionalProperties: true },
  },
  ['hint', 'reason', 'retryAfterMs', 'candidates', 'suggestions', 'errors', 'inputSchema'],
);

const failure = object({ ok: { type: 'boolean', const: false }, error: menuErrorSchema });

export const callReceiptSchema = object(
  {
    ok: flag,
    callId: text,
    provider: { anyOf: [providerNames, text] },
    tool: text,
    isError: flag,
    content: list({ type: 'object', additionalProperties: true }),
    structuredContent: {},
    error: menuErrorSchema,
    protection: protectionSchema,
    truncated: object(
      { originalChars: count, keptChars: count, contentBlocksDropped: count, structuredContentDropped: flag },
      ['contentBlocksDropped', 'structuredContentDropped'],
    ),
    durationMs: { type: 'number' },
  },
  ['structuredContent', 'error', 'truncated'],
);

export const providersAnswerSchema: Schema = {
  anyOf: [
    object({
      providers: list(
        object({
          id: text,
          name: text,
          transport: { type: 'string', enum: ['http', 'stdio', 'mod'] },
          available: flag,
          state: text,
          catalogToolCount: count,
          grantedToolCount: count,
        }),
      ),
      total: count,
      nextCursor: nullableText,
    }),
    failure,
  ],
};

export const capabilitiesAnswerSchema: Schema = {
  anyOf: [
    object(
      {
        provider: { anyOf: [providerNames, { type: 'null' }] },
        tools: list(
          object(
            {
              provider: text,
              name: text,
              title: text,
              description: text,
              inputSchema: { type: 'object', additionalProperties: true },
              schemaOmitted: flag,
              granted: flag,
              available: flag,
              annotations: { type: 'object', additionalProperties: true },
            },
            ['title', 'inputSchema', 'schemaOmitted', 'annotations'],
          ),
        ),
        totalCount: count,
        nextCursor: nullableText,
        hint: text,
        grantedProviders: list(text),
      },
      ['hint', 'grantedProviders'],
    ),
    failure,
  ],
};
