import { Body, Controller, Param, Post, Req, Res } from '@nestjs/common';
import { ApiBody, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { unauthenticated, type AuthenticatedRequest } from '../access.guard.js';
import { AgentsService } from '../grants/agents.service.js';
import { IdParam, Route } from '../route.decorator.js';
import { agentDisabled } from './call-refusals.js';
import { menuSchemaOf, type MenuToolName } from './menu.definitions.js';
import { Menu } from './menu.js';
import { callReceiptSchema, capabilitiesAnswerSchema, providersAnswerSchema } from './menu.schemas.js';

/** The menu over plain HTTP: the body is what an agent would give the tool as arguments. */
@ApiTags('Menu')
@Controller('api/agents/:id/menu')
export class MenuController {
  constructor(
    private readonly menu: Menu,
    private readonly agents: AgentsService,
  ) {}

  @Post('mcp_providers')
  @IdParam('Agent id')
  @ApiBody({ schema: { ...menuSchemaOf('mcp_providers') }, required: false })
  @Route({
    access: 'agent',
    summary: 'Overview of providers',
    answerSchema: providersAnswerSchema,
    problems: ['agent_not_found', 'agent_disabled'],
  })
  providers(
    @Param('id') id: string,
    @Body() body: unknown,
    @Req() request: AuthenticatedRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<unknown> {
    return this.use('mcp_providers', id, body, request, reply);
  }

  @Post('mcp_capabilities')
  @IdParam('Agent id')
  @ApiBody({ schema: { ...menuSchemaOf('mcp_capabilities') }, required: false })
  @Route({
    access: 'agent',
    summary: 'Find tools',
    answerSchema: capabilitiesAnswerSchema,
    problems: ['agent_not_found', 'agent_disabled'],
  })
  capabilities(
    @Param('id') id: string,
    @Body() body: unknown,
    @Req() request: AuthenticatedRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<unknown> {
    return this.use('mcp_capabilities', id, body, request, reply);
  }

  @Post('mcp_call')
  @IdParam('Agent id')
  @ApiBody({ schema: { ...menuSchemaOf('mcp_call') } })
  @Route({
    access: 'agent',
    summary: 'Call a tool',
    answerSchema: callReceiptSchema,
    problems: ['agent_not_found', 'agent_disabled'],
  })
  call(
    @Param('id') id: string,
    @Body() body: unknown,
    @Req() request: AuthenticatedRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<unknown> {
    return this.use('mcp_call', id, body, request, reply);
  }

  private async use(
    tool: MenuToolName,
    agentId: string,
    body: unknown,
    request: AuthenticatedRequest,
    reply: FastifyReply,
  ): Promise<unknown> {
    const { principal } = request;
    if (principal === undefined) throw unauthenticated();
    const gone = new AbortController();
    // the socket closing before the answer was sent is a caller that went away
    const leave = (): void => {
      if (!reply.raw.writableFinished) gone.abort();
    };
    reply.raw.once('close', leave);
    if (reply.raw.destroyed) leave();
    // the token of a disabled agent does not get this far
    if (principal.kind === 'operator' && !(await this.agents.require(agentId)).enabled) throw agentDisabled();
    const { answer } = await this.menu.use(tool, body, {
      principal,
      agentId,
      requestId: request.id,
      signal: gone.signal,
    });
    return answer;
  }
}
