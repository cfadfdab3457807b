import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { type Author, RequestAuthor } from '../author.js';
import { ConnectionsService } from '../connections/connections.service.js';
import { DEFAULT_PAGE_SIZE, type Page } from '../pagination.js';
import { IdParam, Route } from '../route.decorator.js';
import { DiscoverBody, Discovery, DiscoveryOutcomesAnswer } from './discovery.dto.js';
import { DiscoveryService } from './discovery.service.js';
import { type StoredToolAnswer, storedToolAnswer, StoredToolPageAnswer, ToolListQuery } from './tools.dto.js';
import { ToolsService } from './tools.service.js';

@ApiTags('Catalog')
@Controller('api/connections')
export class CatalogController {
  constructor(
    private readonly connections: ConnectionsService,
    private readonly discovery: DiscoveryService,
    private readonly tools: ToolsService,
  ) {}

  @Post('discover')
  @Route({
    access: 'write',
    summary: 'Discover several connections',
    description: 'At most four at once. A connection that fails is told in its own outcome and keeps its catalog.',
    answer: DiscoveryOutcomesAnswer,
  })
  async discoverMany(@RequestAuthor() author: Author, @Body() body: DiscoverBody): Promise<DiscoveryOutcomesAnswer> {
    return { items: await this.discovery.discoverMany(body.ids ?? undefined, author) };
  }

  @Post(':id/discover')
  @IdParam('Connection id')
  @Route({
    access: 'write',
    summary: 'Read the catalog of a connection',
    description:
      'Takes at most twice `connectTimeoutMs`: once for the start of the provider, once for its tool list. A discovery that fails changes nothing. Grants nothing.',
    answer: Discovery,
    problems: [
      'connection_not_found',
      'connection_disabled',
      'provider_unreachable',
      'provider_timeout',
      'busy',
      'shutting_down',
    ],
  })
  discover(@RequestAuthor() author: Author, @Param('id') id: string): Promise<Discovery> {
    return this.discovery.discover(id, { author });
  }

  @Get(':id/tools')
  @IdParam('Connection id')
  @Route({
    access: 'read',
    summary: 'List the stored tools of a connection, with full definitions',
    description: 'In catalog order, or ranked when there is a `query`. Tools hidden by its filters are left out.',
    answer: StoredToolPageAnswer,
    problems: ['connection_not_found', 'cursor_invalid'],
  })
  async list(@Param('id') id: string, @Query() query: ToolListQuery): Promise<Page<StoredToolAnswer>> {
    const { catalog } = await this.connections.require(id);
    const { limit = DEFAULT_PAGE_SIZE, cursor, query: text } = query;
    const page = await this.tools.page(id, { query: text, cursor, limit });
    return { ...page, items: page.items.map((tool) => storedToolAnswer(tool, catalog?.warnings ?? [])) };
  }
}
