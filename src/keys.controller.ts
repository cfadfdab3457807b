import { Body, Controller, Delete, Get, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { type Author, RequestAuthor } from './author.js';
import type { CredentialRow } from './credentials.repository.js';
import { CredentialsService } from './credentials.service.js';
import { invalidField } from './errors.js';
import { CreatedKeyAnswer, CreateKeyBody, type KeyAnswer, KeyPageAnswer } from './keys.dto.js';
import { PageQuery, type Page } from './pagination.js';
import type { OperatorScope } from './principal.js';
import { IdParam, Route } from './route.decorator.js';

@ApiTags('Operator keys')
@Controller('api/keys')
export class KeysController {
  constructor(private readonly credentials: CredentialsService) {}

  @Post()
  @Route({ access: 'admin', summary: 'Create an operator key', status: 201, answer: CreatedKeyAnswer })
  async create(@RequestAuthor() author: Author, @Body() body: CreateKeyBody): Promise<CreatedKeyAnswer> {
    if (body.scopes.length === 0) throw invalidField('scopes', 'must name at least one scope');
    const { row, token } = await this.credentials.issueOperatorKey(
      author,
      body.name,
      [...new Set(body.scopes)],
      body.expiresAt,
    );
    return Object.assign(keyAnswer(row), { key: token });
  }

  @Get()
  @Route({ access: 'admin', summary: 'List operator keys', answer: KeyPageAnswer, problems: ['cursor_invalid'] })
  list(@Query() query: PageQuery): Promise<Page<KeyAnswer>> {
    return this.credentials.list(null, query, keyAnswer);
  }

  @Delete(':id')
  @IdParam('Key id')
  @Route({
    access: 'admin',
    summary: 'Revoke an operator key at once',
    status: 204,
    problems: ['key_not_found', 'revocation_timeout'],
  })
  async revoke(@RequestAuthor() author: Author, @Param('id') id: string): Promise<void> {
    await this.credentials.revoke(author, id, null);
  }
}

function keyAnswer(row: CredentialRow): KeyAnswer {
  return {
    id: row.id,
    name: row.name,
    scopes: row.scopes as OperatorScope[],
    expiresAt: row.expires_at?.toISOString() ?? null,
    createdAt: row.created_at.toISOString(),
  };
}
