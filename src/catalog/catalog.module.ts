import { Module, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { ConnectionsModule } from '../connections/connections.module.js';
import { ConnectionsService } from '../connections/connections.service.js';
import { SessionListeners } from '../connections/session/session-listeners.js';
import { toProblem } from '../problem.filter.js';
import { CapabilitiesSearch } from './capabilities-search.service.js';
import { CatalogIndex } from './catalog-index.js';
import { CatalogReader } from './catalog-reader.js';
import { CatalogRefresher } from './catalog-refresher.js';
import { CatalogController } from './catalog.controller.js';
import { DiscoveryRepository } from './discovery.repository.js';
import { DiscoveryService } from './discovery.service.js';
import { ProvidersRepository } from './providers.repository.js';
import { ProvidersService } from './providers.service.js';
import { SchemaCompiler } from './schema-compiler.js';
import { ToolsRepository } from './tools.repository.js';
import { ToolsService } from './tools.service.js';

/** Discovery, stored tools and search. */
@Module({
  imports: [ConnectionsModule],
  controllers: [CatalogController],
  providers: [
    CapabilitiesSearch,
    CatalogIndex,
    CatalogReader,
    CatalogRefresher,
    DiscoveryRepository,
    DiscoveryService,
    ProvidersRepository,
    ProvidersService,
    SchemaCompiler,
    ToolsRepository,
    ToolsService,
  ],
  exports: [CapabilitiesSearch, CatalogReader, DiscoveryService, ProvidersService, SchemaCompiler, ToolsService],
})
export class CatalogModule implements OnModuleInit, OnModuleDestroy {
  constructor(
    private readonly connections: ConnectionsService,
    private readonly listeners: SessionListeners,
    private readonly discovery: DiscoveryService,
    private readonly refresher: CatalogRefresher,
  ) {}

  onModuleInit(): void {
    this.connections.onDiscoveryWanted(async (id, author) => {
      try {
        await this.discovery.discover(id, { author });
        return undefined;
      } catch (error) {
        return { code: 'discovery_failed', message: toProblem(error).detail };
      }
    });
    this.listeners.onToolsChanged = (id) => this.refresher.toolsChanged(id);
  }

  /** Before sessions and the database go. */
  async onModuleDestroy(): Promise<void> {
    await Promise.all([this.discovery.close(), this.refresher.close()]);
  }
}
