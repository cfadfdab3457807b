import { Body, Controller, Get, Headers, Param, Patch, Put, Res } from '@nestjs/common';
import { ApiHeader, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { type Author, RequestAuthor } from '../author.js';
import { entityTag } from '../connections/entity-tag.js';
import type { ProblemCode } from '../errors.js';
import { IdParam, Route } from '../route.decorator.js';
import { GrantSetAnswer, PatchGrantsBody, ReplaceGrantsBody } from './grants.dto.js';
import { GrantsService } from './grants.service.js';

const CHANGE_PROBLEMS: ProblemCode[] = [
  'agent_not_found',
  'limit_reached',
  'stale_revision',
  'grant_unknown_connection',
  'grant_unknown_tool',
  'revocation_timeout',
];
const ETAG = { ETag: 'The revision in quotes' };
const IF_MATCH = { name: 'If-Match', required: false, description: 'Change only if the set still has this ETag' };

@ApiTags('Grants')
@Controller('api/agents/:id/mcp-tools')
export class AgentToolsController {
  constructor(private readonly grants: GrantsService) {}

  @Get()
  @IdParam('Agent id')
  @Route({
    access: 'read',
    summary: 'Read the tools an agent may call',
    answer: GrantSetAnswer,
    headers: ETAG,
    problems: ['agent_not_found'],
  })
  async read(@Param('id') id: string, @Res({ passthrough: true }) reply: FastifyReply): Promise<GrantSetAnswer> {
    return tagged(reply, await this.grants.read(id));
  }

  @Put()
  @IdParam('Agent id')
  @ApiHeader(IF_MATCH)
  @Route({
    access: 'write',
    summary: 'Replace the complete set of tools an agent may call',
    description: 'All or nothing. A grant already held may stay though its tool has left the catalog.',
    answer: GrantSetAnswer,
    headers: ETAG,
    problems: CHANGE_PROBLEMS,
  })
  async replace(
    @RequestAuthor() author: Author,
    @Param('id') id: string,
    @Body() body: ReplaceGrantsBody,
    @Headers('if-match') ifMatch: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<GrantSetAnswer> {
    return tagged(reply, await this.grants.replace(author, id, body, ifMatch));
  }

  @Patch()
  @IdParam('Agent id')
  @ApiHeader(IF_MATCH)
  @Route({
    access: 'write',
    summary: 'Grant and take away single tools',
    description: 'Idempotent, and leaves what it does not name alone, so that two operators do not undo each other.',
    answer: GrantSetAnswer,
    headers: ETAG,
    problems: CHANGE_PROBLEMS,
  })
  async patch(
    @RequestAuthor() author: Author,
    @Param('id') id: string,
    @Body() body: PatchGrantsBody,
    @Headers('if-match') ifMatch: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<GrantSetAnswer> {
    return tagged(reply, await this.grants.patch(author, id, body, ifMatch));
  }
}

function tagged(reply: FastifyReply, set: GrantSetAnswer): GrantSetAnswer {
  void reply.header('etag', entityTag(set.revision));
  return set;
}
