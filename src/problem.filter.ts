import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isDatabaseUnavailable } from './database.js';
import { problemCatalogue, ProblemError, type ProblemCode } from './errors.js';
import type { Logger } from './logger.js';
import type { OwnSecrets } from './own-secrets.js';

/** The body of an answer in JSON that takes the place of a problem; undefined where none does. */
export type OtherForm = (problem: ProblemError, request: FastifyRequest) => Record<string, unknown> | undefined;

/** Answers every error of the REST face as `application/problem+json`; nothing of a foreign error's text gets out. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  constructor(
    private readonly logger: Logger,
    private readonly ownSecrets: OwnSecrets,
    private readonly otherForm: OtherForm = () => undefined,
  ) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    this.answer(error, http.getRequest<FastifyRequest>(), http.getResponse<FastifyReply>());
  }

  /** Also used for errors that Fastify meets before a handler runs. */
  answer(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    const problem = toProblem(error);
    // what a provider or a bound refuses is told to the caller; a stack is only of use for our own faults
    if (problem.status === 500) {
      this.logger.error({ requestId: request.id, code: problem.code, error }, 'request failed');
    } else if (problem.status > 500) {
      this.logger.warn(
        { requestId: request.id, code: problem.code, reason: problem.reason, detail: problem.detail },
        'request failed',
      );
    }
    const { status, title } = problemCatalogue[problem.code];
    if (problem.retryAfterSeconds !== undefined) void reply.header('retry-after', String(problem.retryAfterSeconds));
    if (status === 401) void reply.header('www-authenticate', 'Bearer');
    const other = this.otherForm(problem, request);
    if (other !== undefined) {
      void reply.status(status).type('application/json').send(this.ownSecrets.redactor.json(other).value);
      return;
    }
    void reply
      .status(status)
      .type('application/problem+json')
      .send(
        this.ownSecrets.redactor.json({
          type: `urn:warren:problem:${problem.code}`,
          title,
          status,
          code: problem.code,
          detail: problem.detail,
          ...(problem.errors === undefined ? {} : { errors: problem.errors }),
          ...(problem.reason === undefined ? {} : { reason: problem.reason }),
          requestId: request.id,
        }).value,
      );
  }
}

/** Translates any error into a problem, once, where it leaves. */
export function toProblem(error: unknown): ProblemError {
  if (error instanceof ProblemError) return error;
  if (isDatabaseUnavailable(error)) {
    return new ProblemError('database_unavailable', 'The database is not available; try again shortly.', {
      retryAfterSeconds: 1,
      cause: error,
    });
  }
  const code = foreignProblemCode(error);
  return new ProblemError(code, foreignDetail(code), { cause: error });
}

const FASTIFY_CODES: Record<string, ProblemCode> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'body_too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'malformed_json',
  FST_ERR_CTP_INVALID_JSON_BODY: 'malformed_json',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'malformed_json',
  FST_ERR_BAD_URL: 'validation_failed',
  FST_ERR_MAX_PARAM_LENGTH: 'route_not_found',
};

const STATUS_CODES: Record<number, ProblemCode> = {
  400: 'malformed_json',
  401: 'unauthenticated',
  403: 'forbidden',
  404: 'route_not_found',
  405: 'method_not_allowed',
  406: 'not_acceptable',
  413: 'body_too_large',
  415: 'unsupported_media_type',
};

function foreignProblemCode(error: unknown): ProblemCode {
  if (error instanceof HttpException) return STATUS_CODES[error.getStatus()] ?? 'internal_error';
  if (typeof error === 'object' && error !== null) {
    if ('code' in error && typeof error.code === 'string') {
      const known = FASTIFY_CODES[error.code];
      if (known !== undefined) return known;
    }
    if ('statusCode' in error && typeof error.statusCode === 'number') {
      return STATUS_CODES[error.statusCode] ?? 'internal_error';
    }
  }
  return 'internal_error';
}

function foreignDetail(code: ProblemCode): string {
  switch (code) {
    case 'malformed_json':
      return 'The body could not be read as JSON.';
    case 'body_too_large':
      return 'The body is larger than this server accepts.';
    case 'unsupported_media_type':
      return 'Send the body as application/json.';
    case 'route_not_found':
      return 'There is no such route; see /openapi.json.';
    case 'internal_error':
      return 'Something went wrong here; the log has the details under this request id.';
    default:
      return problemCatalogue[code].title;
  }
}
