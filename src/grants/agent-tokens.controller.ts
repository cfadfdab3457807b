import { Body, Controller, Delete, Get, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { type Author, RequestAuthor } from '../author.js';
import { PageQuery, type Page } from '../pagination.js';
import { IdParam, Route } from '../route.decorator.js';
import {
  type AgentTokenAnswer,
  AgentTokenPageAnswer,
  CreateAgentTokenBody,
  CreatedAgentTokenAnswer,
} from './agent-tokens.dto.js';
import { AgentTokensService } from './agent-tokens.service.js';

@ApiTags('Agents')
@Controller('api/agents/:id/tokens')
export class AgentTokensController {
  constructor(private readonly tokens: AgentTokensService) {}

  @Post()
  @IdParam('Agent id')
  @Route({
    access: 'write',
    summary: 'Create a token of an agent',
    status: 201,
    answer: CreatedAgentTokenAnswer,
    problems: ['agent_not_found', 'limit_reached'],
  })
  create(
    @RequestAuthor() author: Author,
    @Param('id') id: string,
    @Body() body: CreateAgentTokenBody = {},
  ): Promise<CreatedAgentTokenAnswer> {
    return this.tokens.create(author, id, body);
  }

  @Get()
  @IdParam('Agent id')
  @Route({
    access: 'read',
    summary: 'List the tokens of an agent, newest first',
    answer: AgentTokenPageAnswer,
    problems: ['agent_not_found', 'cursor_invalid'],
  })
  list(@Param('id') id: string, @Query() query: PageQuery): Promise<Page<AgentTokenAnswer>> {
    return this.tokens.list(id, query);
  }

  @Delete(':tokenId')
  @IdParam('Agent id')
  @IdParam('Token id', 'tokenId')
  @Route({
    access: 'write',
    summary: 'Revoke a token at once',
    status: 204,
    problems: ['agent_not_found', 'token_not_found', 'revocation_timeout'],
  })
  async revoke(
    @RequestAuthor() author: Author,
    @Param('id') id: string,
    @Param('tokenId') tokenId: string,
  ): Promise<void> {
    await this.tokens.revoke(author, id, tokenId);
  }
}
