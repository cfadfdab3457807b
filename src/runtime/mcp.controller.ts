import { Controller, Delete, Get, Post, Req, Res } from '@nestjs/common';
import { ApiBody, ApiExcludeEndpoint, ApiProduces, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import type { AuthenticatedRequest } from '../access.guard.js';
import { ProblemError, type ProblemCode } from '../errors.js';
import { ProblemAnswer } from '../problem.answer.js';
import { Route } from '../route.decorator.js';
import type { AgentPrincipal } from './mcp.exchange.js';
import { McpEndpoint } from './mcp.endpoint.js';

/** Built anew for each place it is documented in, so that no list in it is shared. */
const messageSchema = () => ({
  type: 'object',
  description: 'One JSON-RPC 2.0 message of the Model Context Protocol; batches are refused.',
  properties: {
    jsonrpc: { type: 'string', enum: ['2.0'] },
    id: { oneOf: [{ type: 'string' }, { type: 'integer' }] },
    method: { type: 'string' },
    params: { type: 'object' },
  },
  required: ['jsonrpc'],
});

const errorSchema = () => ({
  type: 'object',
  description: 'A JSON-RPC error; `id` is null or left out where it could not be read.',
  properties: {
    jsonrpc: { type: 'string', enum: ['2.0'] },
    id: { oneOf: [{ type: 'string' }, { type: 'integer' }, { type: 'null' }] },
    error: {
      type: 'object',
      properties: { code: { type: 'integer' }, message: { type: 'string' }, data: {} },
      required: ['code', 'message'],
    },
  },
  required: ['jsonrpc', 'error'],
});

function bodyRefused(code: ProblemCode) {
  return {
    description: `\`${code}\`, as a JSON-RPC error with code -32000`,
    content: { 'application/json': { schema: errorSchema() } },
  };
}

@ApiTags('Menu over MCP')
@Controller('mcp')
export class McpController {
  constructor(private readonly endpoint: McpEndpoint) {}

  @ApiResponse({
    status: 400,
    description: 'A JSON-RPC error for what is no message; code -32700 for a body that is `malformed_json`',
    content: {
      'application/json': { schema: errorSchema() },
      'application/problem+json': { schema: { $ref: `#/components/schemas/${ProblemAnswer.name}` } },
    },
  })
  @ApiResponse({ status: 413, ...bodyRefused('body_too_large') })
  @ApiResponse({ status: 415, ...bodyRefused('unsupported_media_type') })
  @Post()
  @Route({
    access: 'mcp',
    summary: 'The menu over the Model Context Protocol (Streamable HTTP)',
    description:
      'Serves revision 2026-07-28 and, from `initialize` on, those from 2024-11-05 to 2025-11-25. A request is answered as JSON, or as an event stream when the client accepts one and there is progress to tell or the call takes long.',
    answerSchema: messageSchema(),
    headers: { 'Mcp-Session-Id': 'Answers `initialize` only; tells the calls of several clients apart' },
  })
  @ApiBody({ schema: messageSchema() })
  @ApiProduces('application/json', 'text/event-stream')
  @ApiResponse({ status: 202, description: 'A notification was taken; empty body' })
  async post(@Req() request: AuthenticatedRequest, @Res() reply: FastifyReply): Promise<void> {
    await this.endpoint.serve(agentOf(request), request, reply);
  }

  @Get()
  @Route({ access: 'mcp', summary: 'No stream is offered' })
  @ApiExcludeEndpoint()
  get(@Res({ passthrough: true }) reply: FastifyReply): never {
    return postOnly(reply);
  }

  @Delete()
  @Route({ access: 'mcp', summary: 'Sessions are not stored, so there is none to end' })
  @ApiExcludeEndpoint()
  delete(@Res({ passthrough: true }) reply: FastifyReply): never {
    return postOnly(reply);
  }
}

function postOnly(reply: FastifyReply): never {
  void reply.header('allow', 'POST');
  throw new ProblemError('method_not_allowed', 'Send JSON-RPC messages by POST.');
}

function agentOf({ principal }: AuthenticatedRequest): AgentPrincipal {
  if (principal?.kind !== 'agent') throw new ProblemError('forbidden', 'This endpoint is for agent tokens.');
  return principal;
}
