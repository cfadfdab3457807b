import { Module } from '@nestjs/common';
import { CatalogModule } from '../catalog/catalog.module.js';
import { ConnectionsModule } from '../connections/connections.module.js';
import { GrantsModule } from '../grants/grants.module.js';
import { CallDispatch } from './call-dispatch.js';
import { CallIntents } from './call-intents.js';
import { CallMetrics } from './call-metrics.js';
import { CallReceipts } from './call-receipts.js';
import { CallRecorder } from './call-recorder.js';
import { CallRefusals } from './call-refusals.js';
import { CallService } from './call.service.js';
import { CallsController } from './calls.controller.js';
import { CallsRepository } from './calls.repository.js';
import { CancellationsRepository } from './cancellations.repository.js';
import { InFlightCalls } from './in-flight-calls.js';
import { InstanceHeartbeat } from './instance-heartbeat.js';
import { McpCancellations } from './mcp.cancellations.js';
import { McpController } from './mcp.controller.js';
import { McpEndpoint } from './mcp.endpoint.js';
import { McpExchanges } from './mcp.exchanges.js';
import { McpInFlight } from './mcp.in-flight.js';
import { McpLimits } from './mcp.limits.js';
import { McpToolCalls } from './mcp.tool-calls.js';
import { MenuController } from './menu.controller.js';
import { Menu } from './menu.js';
import { MenuPlaces } from './menu.places.js';
import { MenuService } from './menu.service.js';
import { ReceiptsService } from './receipts.service.js';
import { ToolArguments } from './tool-arguments.js';

/** The menu, the call path and the `/mcp` endpoint. */
@Module({
  imports: [ConnectionsModule, CatalogModule, GrantsModule],
  controllers: [MenuController, McpController, CallsController],
  providers: [
    CallsRepository,
    CallDispatch,
    CallIntents,
    CallMetrics,
    CallReceipts,
    CallRecorder,
    CallRefusals,
    CallService,
    CancellationsRepository,
    InFlightCalls,
    InstanceHeartbeat,
    McpCancellations,
    McpEndpoint,
    McpExchanges,
    McpInFlight,
    McpLimits,
    McpToolCalls,
    MenuPlaces,
    MenuService,
    { provide: Menu, useExisting: MenuService },
    ReceiptsService,
    ToolArguments,
  ],
})
export class RuntimeModule {}
