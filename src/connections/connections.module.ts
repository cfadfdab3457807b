import { Module } from '@nestjs/common';
import { ConnectionChanges } from './connection-changes.service.js';
import { ConnectionEventsRepository } from './connection-events.repository.js';
import { ConnectionEvents } from './connection-events.service.js';
import { ConnectionLaunches } from './connection-launches.service.js';
import { ConnectionSecretsRepository } from './connection-secrets.repository.js';
import { ConnectionSecrets } from './connection-secrets.service.js';
import { ConnectionsController } from './connections.controller.js';
import { ConnectionsRepository } from './connections.repository.js';
import { ConnectionsService } from './connections.service.js';
import { LegacyEventsImport } from './legacy-events.import.js';
import { LegacyImportsRepository } from './legacy-imports.repository.js';
import { ProviderProcesses } from './session/provider-processes.js';
import { SessionListeners } from './session/session-listeners.js';
import { SessionManager } from './session/session-manager.js';
import { SessionOpener } from './session/session-opener.js';
import { SessionMetrics } from './session-metrics.js';
import { SessionReconciler } from './session-reconciler.js';
import { SessionRecorder } from './session-recorder.js';

/** Saved connections, their secrets and events, and the live sessions to providers. */
@Module({
  controllers: [ConnectionsController],
  providers: [
    ConnectionChanges,
    ConnectionEvents,
    ConnectionEventsRepository,
    ConnectionLaunches,
    ConnectionSecrets,
    ConnectionSecretsRepository,
    ConnectionsRepository,
    ConnectionsService,
    LegacyEventsImport,
    LegacyImportsRepository,
    ProviderProcesses,
    SessionListeners,
    SessionManager,
    SessionMetrics,
    SessionOpener,
    SessionReconciler,
    SessionRecorder,
  ],
  exports: [ConnectionChanges, ConnectionEvents, ConnectionsService, SessionListeners, SessionManager, SessionRecorder],
})
export class ConnectionsModule {}
