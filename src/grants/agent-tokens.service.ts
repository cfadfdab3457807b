import { Injectable } from '@nestjs/common';
import type { Author } from '../author.js';
import { CredentialsService, type IssuedCredential } from '../credentials.service.js';
import { ProblemError } from '../errors.js';
import type { Page, PageQuery } from '../pagination.js';
import { AgentsService } from './agents.service.js';
import type { AgentTokenAnswer, CreateAgentTokenBody, CreatedAgentTokenAnswer } from './agent-tokens.dto.js';

const TOKEN_ID = /^[0-9A-Za-z]{1,100}$/;

/** Bearer tokens, each bound to one agent. */
@Injectable()
export class AgentTokensService {
  constructor(
    private readonly agents: AgentsService,
    private readonly credentials: CredentialsService,
  ) {}

  /** Errors: `agent_not_found`, `limit_reached` beyond 100 tokens of one agent, `validation_failed`. */
  async create(author: Author, agentId: string, body: CreateAgentTokenBody): Promise<CreatedAgentTokenAnswer> {
    await this.agents.require(agentId);
    const { row, token } = await this.issue(author, agentId, body);
    return Object.assign(tokenAnswer(row), { token });
  }

  /** Errors: `agent_not_found`, `cursor_invalid`. */
  async list(agentId: string, query: PageQuery): Promise<Page<AgentTokenAnswer>> {
    await this.agents.require(agentId);
    return this.credentials.list(agentId, query, tokenAnswer);
  }

  /**
   * Revokes at once.
   * Errors: `agent_not_found`, `token_not_found`, `revocation_timeout`.
   */
  async revoke(author: Author, agentId: string, tokenId: string): Promise<void> {
    await this.agents.require(agentId);
    if (!TOKEN_ID.test(tokenId)) throw new ProblemError('token_not_found', 'This agent has no token of this id.');
    await this.credentials.revoke(author, tokenId, agentId);
  }

  private async issue(author: Author, agentId: string, body: CreateAgentTokenBody): Promise<IssuedCredential> {
    try {
      return await this.credentials.issueAgentToken(author, agentId, body.name, body.expiresAt);
    } catch (error) {
      // An agent deleted meanwhile breaks the foreign key; the caller should hear that it is gone.
      await this.agents.require(agentId);
      throw error;
    }
  }
}

function tokenAnswer(row: IssuedCredential['row']): AgentTokenAnswer {
  return {
    id: row.id,
    name: row.name,
    expiresAt: row.expires_at?.toISOString() ?? null,
    createdAt: row.created_at.toISOString(),
  };
}
