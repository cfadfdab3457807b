import { type DynamicModule, Global, Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { AccessGuard } from './access.guard.js';
import { AuditController } from './audit.controller.js';
import { AuditRefusals } from './audit.refusals.js';
import { AuditRepository } from './audit.repository.js';
import { AuditLog } from './audit.service.js';
import { ChangeListener } from './change-listener.js';
import { Changes } from './changes.js';
import { CredentialsRepository } from './credentials.repository.js';
import { CredentialsService } from './credentials.service.js';
import { DatabaseMetrics } from './database.metrics.js';
import { Database } from './database.js';
import { HealthController } from './health.controller.js';
import { HostCheck } from './host-check.js';
import { Instance } from './instance.js';
import { KeysController } from './keys.controller.js';
import { Listeners } from './listeners.js';
import { Logger } from './logger.js';
import { MetricsController } from './metrics.controller.js';
import { Metrics } from './metrics.js';
import { OauthController } from './oauth.controller.js';
import { OauthRepository } from './oauth.repository.js';
import { OauthService } from './oauth.service.js';
import { OwnSecrets } from './own-secrets.js';
import { PresentedTokens } from './presented-tokens.js';
import type { Platform } from './platform.js';
import { RateBounds } from './rate-bounds.js';
import { Readiness } from './readiness.js';
import { RequestGate } from './request-gate.js';
import { SafeFetch } from './safe-fetch.js';
import { SecretBox } from './secret-box.js';
import { ServerSecrets } from './server-secrets.service.js';
import { SETTINGS } from './settings.token.js';

/** The base floor: what every room may inject. */
@Global()
@Module({})
export class BaseModule {
  static on(platform: Platform): DynamicModule {
    const { settings } = platform;
    const listeners = new Listeners();
    const provided = [
      { provide: SETTINGS, useValue: settings },
      { provide: Database, useValue: platform.database },
      { provide: SecretBox, useValue: platform.secretBox },
      { provide: ServerSecrets, useValue: platform.serverSecrets },
      { provide: OwnSecrets, useValue: platform.ownSecrets },
      { provide: Logger, useValue: platform.logger },
      { provide: Instance, useValue: new Instance() },
      { provide: Listeners, useValue: listeners },
      { provide: HostCheck, useValue: new HostCheck(settings.HOST, settings.WARREN_ALLOWED_HOSTS) },
      {
        provide: SafeFetch,
        useFactory: () =>
          new SafeFetch({
            allowedNetworks: settings.WARREN_ALLOW_PRIVATE_NETWORKS,
            ownListeners: () => listeners.current,
            limits: { bodyBytes: settings.WARREN_MAX_MESSAGE_BYTES },
          }),
      },
    ];
    return {
      module: BaseModule,
      controllers: [KeysController, AuditController, HealthController, MetricsController, OauthController],
      providers: [
        ...provided,
        Changes,
        DatabaseMetrics,
        Metrics,
        Readiness,
        AuditRepository,
        AuditLog,
        AuditRefusals,
        CredentialsRepository,
        CredentialsService,
        OauthRepository,
        OauthService,
        PresentedTokens,
        RateBounds,
        RequestGate,
        { provide: APP_GUARD, useClass: AccessGuard },
        {
          provide: ChangeListener,
          inject: [Changes, Logger],
          useFactory: (changes: Changes, logger: Logger) =>
            new ChangeListener(
              settings.WARREN_DB_POOLER === undefined ? platform.databaseUrl : undefined,
              changes,
              logger,
            ),
        },
      ],
      exports: [
        ...provided.map(({ provide }) => provide),
        Changes,
        Metrics,
        Readiness,
        AuditLog,
        AuditRefusals,
        CredentialsService,
        OauthService,
        RateBounds,
        RequestGate,
      ],
    };
  }
}
