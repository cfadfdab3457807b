import { Body, Controller, Get, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { type Author, RequestAuthor } from '../author.js';
import type { Page } from '../pagination.js';
import { Route } from '../route.decorator.js';
import {
  AppliedGrantsAnswer,
  ApplyGrantsBody,
  type GrantAnswer,
  GrantListQuery,
  GrantPageAnswer,
} from './grants.dto.js';
import { GrantsService } from './grants.service.js';

@ApiTags('Grants')
@Controller('api/grants')
export class GrantsController {
  constructor(private readonly grants: GrantsService) {}

  @Get()
  @Route({ access: 'read', summary: 'List who may call what', answer: GrantPageAnswer, problems: ['cursor_invalid'] })
  list(@Query() query: GrantListQuery): Promise<Page<GrantAnswer>> {
    return this.grants.list(query);
  }

  @Post('apply')
  @Route({
    access: 'write',
    summary: 'Grant and take away tools for several agents at once',
    description: 'One transaction, all or nothing; at most 1,000 pairs of agent and tool.',
    answer: AppliedGrantsAnswer,
    problems: [
      'limit_reached',
      'grant_unknown_agent',
      'grant_unknown_connection',
      'grant_unknown_tool',
      'revocation_timeout',
    ],
  })
  apply(@RequestAuthor() author: Author, @Body() body: ApplyGrantsBody): Promise<AppliedGrantsAnswer> {
    return this.grants.apply(author, body);
  }
}
