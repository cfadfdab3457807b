import { Body, Controller, Delete, Get, Headers, Param, Patch, Post, Query, Res } from '@nestjs/common';
import { ApiHeader, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { type Author, RequestAuthor } from '../author.js';
import { type Page, PageQuery } from '../pagination.js';
import { IdParam, Route } from '../route.decorator.js';
import { ConnectionChanges } from './connection-changes.service.js';
import { type ConnectionEventAnswer, ConnectionEventPageAnswer } from './connection-events.dto.js';
import { ConnectionEvents } from './connection-events.service.js';
import type { ExportedServer } from './connection-export.js';
import { ConnectionAnswer, ConnectionPageAnswer } from './connection.answer.js';
import {
  ChangeConnectionBody,
  ConnectionQuery,
  CreateConnectionBody,
  CreateConnectionQuery,
} from './connection.dto.js';
import { ConnectionsService } from './connections.service.js';
import { entityTag } from './entity-tag.js';
import { changeProblems, createProblems, exportSchema, lifecycleProblems } from './connections.openapi.js';

const ETAG = { ETag: 'The revision, quoted' };

@ApiTags('Connections')
@Controller('api/connections')
export class ConnectionsController {
  constructor(
    private readonly connections: ConnectionsService,
    private readonly changes: ConnectionChanges,
    private readonly events: ConnectionEvents,
  ) {}

  @Post()
  @Route({
    access: 'write-or-launch',
    summary: 'Save a connection; grants nothing',
    description: 'Needs scope `write` for http and `launch` for stdio.',
    status: 201,
    answer: ConnectionAnswer,
    headers: { Location: 'Path of the connection', ...ETAG },
    problems: createProblems,
  })
  async create(
    @RequestAuthor() author: Author,
    @Body() body: CreateConnectionBody,
    @Query() query: CreateConnectionQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ConnectionAnswer> {
    const { id } = await this.changes.create(author, body);
    const warnings = query.discover === 'true' ? await this.connections.discoverNew(author, id) : [];
    const record = await this.connections.require(id);
    void reply.header('location', `/api/connections/${id}`).header('etag', entityTag(record.revision));
    return this.connections.present(record, warnings);
  }

  @Get()
  @Route({ access: 'read', summary: 'List connections', answer: ConnectionPageAnswer, problems: ['cursor_invalid'] })
  list(@Query() query: ConnectionQuery): Promise<Page<ConnectionAnswer>> {
    return this.connections.list(query);
  }

  @Get('export')
  @Route({
    access: 'read',
    summary: 'Export every connection without secret values',
    description: 'In the place of each secret value stands `${NAME}`; secret query parameters are left out.',
    answerSchema: exportSchema,
  })
  export(): Promise<{ mcpServers: Record<string, ExportedServer> }> {
    return this.connections.export();
  }

  @Get(':id')
  @IdParam('Connection id')
  @Route({
    access: 'read',
    summary: 'Read a connection',
    answer: ConnectionAnswer,
    headers: ETAG,
    problems: ['connection_not_found'],
  })
  async read(@Param('id') id: string, @Res({ passthrough: true }) reply: FastifyReply): Promise<ConnectionAnswer> {
    const record = await this.connections.require(id);
    void reply.header('etag', entityTag(record.revision));
    return this.connections.present(record);
  }

  @Patch(':id')
  @IdParam('Connection id')
  @ApiHeader({ name: 'If-Match', required: false, description: 'Change only this revision, e.g. "3"' })
  @Route({
    access: 'write-or-launch',
    summary: 'Change a connection',
    description:
      'A field left out stays, `null` goes back to its default. Changing `command`, `args`, `cwd` or ' +
      '`environmentVariables` of a stdio connection needs scope `launch`, everything else `write`.',
    answer: ConnectionAnswer,
    headers: ETAG,
    problems: changeProblems,
  })
  async change(
    @RequestAuthor() author: Author,
    @Param('id') id: string,
    @Headers('if-match') ifMatch: string | undefined,
    @Body() body: ChangeConnectionBody,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ConnectionAnswer> {
    const record = await this.changes.change(author, id, body, ifMatch);
    void reply.header('etag', entityTag(record.revision));
    return this.connections.present(record);
  }

  @Delete(':id')
  @IdParam('Connection id')
  @Route({
    access: 'write',
    summary: 'Delete a connection with its catalog, grants and events, and end its sessions',
    status: 204,
    problems: ['connection_not_found', 'revocation_timeout'],
  })
  delete(@RequestAuthor() author: Author, @Param('id') id: string): Promise<void> {
    return this.changes.delete(author, id);
  }

  @Get(':id/events')
  @IdParam('Connection id')
  @Route({
    access: 'read',
    summary: 'List the stored transitions of a connection, newest first',
    answer: ConnectionEventPageAnswer,
    problems: ['connection_not_found', 'cursor_invalid'],
  })
  async listEvents(@Param('id') id: string, @Query() query: PageQuery): Promise<Page<ConnectionEventAnswer>> {
    await this.connections.require(id);
    return this.events.list(id, query);
  }

  @Post(':id/start')
  @IdParam('Connection id')
  @Route({
    access: 'write',
    summary: "Start a keep_alive connection's session on this replica",
    answer: ConnectionAnswer,
    problems: [...lifecycleProblems, 'connection_disabled', 'provider_unreachable', 'provider_timeout', 'busy'],
  })
  async start(@RequestAuthor() author: Author, @Param('id') id: string): Promise<ConnectionAnswer> {
    return this.connections.present(await this.connections.start(author, id));
  }

  @Post(':id/stop')
  @IdParam('Connection id')
  @Route({
    access: 'write',
    summary: "End a keep_alive connection's sessions on all replicas",
    answer: ConnectionAnswer,
    problems: [...lifecycleProblems, 'revocation_timeout'],
  })
  async stop(@RequestAuthor() author: Author, @Param('id') id: string): Promise<ConnectionAnswer> {
    return this.connections.present(await this.connections.stop(author, id));
  }
}
