import { Body, Controller, Delete, Get, Param, Patch, Post, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { type Author, RequestAuthor } from '../author.js';
import type { Page } from '../pagination.js';
import { IdParam, Route } from '../route.decorator.js';
import {
  AgentAnswer,
  agentAnswer,
  AgentListQuery,
  AgentPageAnswer,
  CreateAgentBody,
  UpdateAgentBody,
} from './agents.dto.js';
import { AgentsService } from './agents.service.js';

@ApiTags('Agents')
@Controller('api/agents')
export class AgentsController {
  constructor(private readonly agents: AgentsService) {}

  @Post()
  @Route({
    access: 'write',
    summary: 'Create an agent',
    status: 201,
    answer: AgentAnswer,
    headers: { Location: 'Path of the agent' },
    problems: ['agent_conflict'],
  })
  async create(
    @RequestAuthor() author: Author,
    @Body() body: CreateAgentBody,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<AgentAnswer> {
    const agent = await this.agents.create(author, body);
    void reply.header('location', `/api/agents/${agent.id}`);
    return agentAnswer(agent);
  }

  @Get()
  @Route({ access: 'read', summary: 'List agents', answer: AgentPageAnswer, problems: ['cursor_invalid'] })
  list(@Query() query: AgentListQuery): Promise<Page<AgentAnswer>> {
    return this.agents.list(query);
  }

  @Get(':id')
  @IdParam('Agent id')
  @Route({ access: 'read', summary: 'Read an agent', answer: AgentAnswer, problems: ['agent_not_found'] })
  async read(@Param('id') id: string): Promise<AgentAnswer> {
    return agentAnswer(await this.agents.require(id));
  }

  @Patch(':id')
  @IdParam('Agent id')
  @Route({
    access: 'write',
    summary: 'Change an agent',
    description:
      'A disabled agent can do nothing from the moment of the answer on. `null` resets a field to its default.',
    answer: AgentAnswer,
    problems: ['agent_not_found', 'revocation_timeout'],
  })
  async update(
    @RequestAuthor() author: Author,
    @Param('id') id: string,
    @Body() body: UpdateAgentBody,
  ): Promise<AgentAnswer> {
    return agentAnswer(await this.agents.update(author, id, body));
  }

  @Delete(':id')
  @IdParam('Agent id')
  @Route({
    access: 'write',
    summary: 'Delete an agent with its tokens and grants',
    status: 204,
    problems: ['agent_not_found', 'revocation_timeout'],
  })
  async delete(@RequestAuthor() author: Author, @Param('id') id: string): Promise<void> {
    await this.agents.delete(author, id);
  }
}
