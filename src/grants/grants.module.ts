import { Module } from '@nestjs/common';
import { ConnectionsModule } from '../connections/connections.module.js';
import { AgentSessions } from './agent-sessions.js';
import { AgentTokensController } from './agent-tokens.controller.js';
import { AgentTokensService } from './agent-tokens.service.js';
import { AgentToolsController } from './agent-tools.controller.js';
import { AgentsController } from './agents.controller.js';
import { AgentsRepository } from './agents.repository.js';
import { AgentsService } from './agents.service.js';
import { GrantWriter } from './grant-writer.js';
import { GrantsController } from './grants.controller.js';
import { GrantsRepository } from './grants.repository.js';
import { GrantsService } from './grants.service.js';

/** Agents, their tokens and their grants. */
@Module({
  imports: [ConnectionsModule],
  controllers: [AgentsController, AgentTokensController, AgentToolsController, GrantsController],
  providers: [
    AgentSessions,
    AgentsRepository,
    AgentsService,
    AgentTokensService,
    GrantsRepository,
    GrantWriter,
    GrantsService,
  ],
  exports: [AgentsService, GrantsService],
})
export class GrantsModule {}
