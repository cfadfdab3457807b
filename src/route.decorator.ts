import { applyDecorators, HttpCode, SetMetadata, type Type } from '@nestjs/common';
import { ApiBearerAuth, ApiExtension, ApiOperation, ApiParam, ApiResponse, ApiSecurity } from '@nestjs/swagger';
import { problemCatalogue, type ProblemCode } from './errors.js';
import { describeProblems } from './route.problems.js';
import { ProblemAnswer } from './problem.answer.js';
import type { RouteAccess } from './principal.js';

export const ROUTE_ACCESS = 'warren:access';

interface RouteOptions {
  access: RouteAccess;
  summary: string;
  description?: string;
  /** Success status; default 200. */
  status?: number;
  /** The answer's class; none for an empty body. */
  answer?: Type<unknown>;
  /** A documented schema in place of an answer class. */
  answerSchema?: Record<string, unknown>;
  /** The answer is plain text. */
  answerText?: true;
  /** Response headers by name, with what they hold. */
  headers?: Record<string, string>;
  /** Problem codes beside those every route of its kind can give. */
  problems?: readonly ProblemCode[];
}

/**
 * Marks a handler as reachable and documents it. A handler without it stays closed: the access guard refuses what it
 * does not know.
 */
export function Route(options: RouteOptions): MethodDecorator {
  const { access, status = 200 } = options;
  const headers = Object.fromEntries(
    Object.entries(options.headers ?? {}).map(([name, description]) => [
      name,
      { description, schema: { type: 'string' } },
    ]),
  );
  return applyDecorators(
    SetMetadata(ROUTE_ACCESS, access),
    HttpCode(status),
    ApiOperation({
      summary: options.summary,
      ...(options.description === undefined ? {} : { description: options.description }),
      ...(access === 'public' ? { security: [] } : {}),
    }),
    ApiExtension('x-warren-access', access),
    ApiResponse({
      status,
      description: status === 204 ? 'Done' : 'Success',
      headers,
      ...(options.answer === undefined ? {} : { type: options.answer }),
      ...(options.answerSchema === undefined ? {} : { schema: options.answerSchema }),
      ...(options.answerText ? { content: { 'text/plain': { schema: { type: 'string' } } } } : {}),
    }),
    ...(access === 'public' ? [] : [ApiBearerAuth(access === 'mcp' ? 'agentToken' : 'operatorKey')]),
    ...(access === 'agent' ? [ApiSecurity('agentToken')] : []),
    ...problemResponses(options),
  );
}

/** Documents the `{id}` path parameter. */
export function IdParam(description: string, name = 'id'): MethodDecorator {
  return ApiParam({ name, description, schema: { type: 'string' } });
}

function problemResponses({ access, problems = [] }: RouteOptions): MethodDecorator[] {
  const codes = new Set<ProblemCode>(problems);
  if (access !== 'public') {
    for (const code of [
      'unauthenticated',
      'forbidden',
      'host_not_allowed',
      'origin_not_allowed',
      'validation_failed',
      'rate_limited',
      'internal_error',
      'database_unavailable',
      'shutting_down',
    ] as const) {
      codes.add(code);
    }
  }
  // what changes something waits for others that change it
  if (['write', 'launch', 'write-or-launch', 'admin'].includes(access)) codes.add('busy');
  const byStatus = new Map<number, ProblemCode[]>();
  for (const code of codes) {
    const { status } = problemCatalogue[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return [...byStatus].map(([status, of]) =>
    ApiResponse({
      status,
      description: describeProblems(of),
      content: { 'application/problem+json': { schema: { $ref: `#/components/schemas/${ProblemAnswer.name}` } } },
    }),
  );
}
