import { type DynamicModule, Module } from '@nestjs/common';
import { BaseModule } from './base.module.js';
import { CatalogModule } from './catalog/catalog.module.js';
import { ConnectionsModule } from './connections/connections.module.js';
import { GrantsModule } from './grants/grants.module.js';
import type { Platform } from './platform.js';
import { RuntimeModule } from './runtime/runtime.module.js';

/** The whole server on a platform. */
@Module({})
export class AppModule {
  static on(platform: Platform): DynamicModule {
    return {
      module: AppModule,
      imports: [BaseModule.on(platform), ConnectionsModule, CatalogModule, GrantsModule, RuntimeModule],
    };
  }
}
