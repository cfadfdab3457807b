import { Injectable } from '@nestjs/common';
import { CredentialsService, type IssuedCredential } from '../credentials.service.js';
import { ProblemError } from '../errors.js';
import type { Page, PageQuery } from '../pagination.js';
import { AgentsService } from './agents.service.js';
import type { AgentTokenAnswer, CreateAgentTokenBody, CreatedAgentTokenAnswer } from './agent-tokens.dto.js';

export const MAX_TOKENS_PER_AGENT = 100;
const TOKEN_ID = /^[0-9A-Za-z]{1,100}$/;

/** Bearer tokens, each bound to one agent. */
@Injectable()
export class AgentTokensService {
  constructor(
    private readonly agents: AgentsService,
    private readonly credentials: CredentialsService,
  ) {}

  /** Errors: `agent_not_found`, `limit_reached` beyond 100 tokens of one agent, `validation_failed`. */
  async create(agentId: string, body: CreateAgentTokenBody): Promise<CreatedAgentTokenAnswer> {
    await this.agents.require(agentId);
    if ((await this.count(agentId)) >= MAX_TOKENS_PER_AGENT) throw limitReached();
    const { row, token } = await this.issue(agentId, body);
    // Parallel requests all pass the first look; each looks again with its token saved, so none of them goes over.
    if ((await this.count(agentId)) > MAX_TOKENS_PER_AGENT) {
      await this.credentials.revoke(row.id, agentId);
      throw limitReached();
    }
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
  async revoke(agentId: string, tokenId: string): Promise<void> {
    await this.agents.require(agentId);
    if (!TOKEN_ID.test(tokenId)) throw new ProblemError('token_not_found', 'This agent has no token of this id.');
    await this.credentials.revoke(tokenId, agentId);
  }

  private async issue(agentId: string, body: CreateAgentTokenBody): Promise<IssuedCredential> {
    try {
      return await this.credentials.issueAgentToken(agentId, body.name, body.expiresAt);
    } catch (error) {
      // An agent deleted meanwhile breaks the foreign key; the caller should hear that it is gone.
      await this.agents.require(agentId);
      throw error;
    }
  }

  private async count(agentId: string): Promise<number> {
    const page = await this.credentials.list(agentId, { limit: MAX_TOKENS_PER_AGENT + 1 }, (row) => row.id);
    return page.items.length;
  }
}

function limitReached(): ProblemError {
  return new ProblemError(
    'limit_reached',
    `An agent has at most ${MAX_TOKENS_PER_AGENT} tokens; revoke one that is not used any more.`,
  );
}

function tokenAnswer(row: IssuedCredential['row']): AgentTokenAnswer {
  return {
    id: row.id,
    name: row.name,
    expiresAt: row.expires_at?.toISOString() ?? null,
    createdAt: row.created_at.toISOString(),
  };
}
