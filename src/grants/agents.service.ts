import { Injectable } from '@nestjs/common';
import { differenceOf } from '../audit.difference.js';
import type { AuditAction, AuditedChange } from '../audit.entry.js';
import { AuditLog } from '../audit.service.js';
import type { Author } from '../author.js';
import { Changes } from '../changes.js';
import { Database, type DatabaseTransaction } from '../database.js';
import { invalidField, ProblemError } from '../errors.js';
import { decodeCursor, DEFAULT_PAGE_SIZE, pageOf, type Page } from '../pagination.js';
import { AGENT_DEFAULTS, type AgentRow } from './agent.js';
import { idCandidates } from '../id-candidates.js';
import { AGENT_ID } from './agent-id.js';
import {
  agentAnswer,
  type AgentAnswer,
  type AgentListQuery,
  type CreateAgentBody,
  type UpdateAgentBody,
} from './agents.dto.js';
import { AgentsRepository } from './agents.repository.js';

/** Agents: who may hold tokens and grants. */
@Injectable()
export class AgentsService {
  constructor(
    private readonly repository: AgentsRepository,
    private readonly database: Database,
    private readonly changes: Changes,
    private readonly audit: AuditLog,
  ) {}

  /** Errors: `agent_conflict` when the id asked for is taken. */
  async create(author: Author, body: CreateAgentBody): Promise<AgentRow> {
    return this.database.transaction(async (transaction) => {
      const row = await this.insert(transaction, body);
      await this.audit.record(transaction, author, { ...changed('agent.create', row.id), after: described(row) });
      return row;
    });
  }

  async find(id: string): Promise<AgentRow | undefined> {
    // A path may hold what PostgreSQL cannot even compare (NUL); no such text is an id.
    return AGENT_ID.test(id) ? this.repository.find(id) : undefined;
  }

  /** Errors: `agent_not_found`. */
  async require(id: string): Promise<AgentRow> {
    const row = await this.find(id);
    if (row === undefined) throw agentNotFound();
    return row;
  }

  /** Errors: `cursor_invalid`. */
  async list(query: AgentListQuery): Promise<Page<AgentAnswer>> {
    const limit = query.limit ?? DEFAULT_PAGE_SIZE;
    const after = query.cursor === undefined ? undefined : String(decodeCursor(query.cursor, ['string'])[0]);
    const enabled = query.enabled === undefined ? undefined : query.enabled === 'true';
    const rows = await this.repository.list({ query: query.query, enabled }, limit + 1, after);
    return pageOf(rows, limit, agentAnswer, (row) => [row.id]);
  }

  /**
   * Changes the fields named. Disabling takes every permission away at once: when this resolves, no call of the agent
   * begins any more.
   * Errors: `agent_not_found`, `validation_failed`, `revocation_timeout`.
   */
  async update(author: Author, id: string, body: UpdateAgentBody): Promise<AgentRow> {
    await this.require(id);
    if (body.name === null) throw invalidField('name', 'must be text: it has no default');
    const changes = {
      ...(body.name === undefined ? {} : { name: body.name }),
      ...(body.enabled === undefined ? {} : { enabled: body.enabled ?? AGENT_DEFAULTS.enabled }),
      ...(body.visibility === undefined ? {} : { visibility: body.visibility ?? AGENT_DEFAULTS.visibility }),
    };
    if (Object.keys(changes).length === 0) return this.require(id);
    const work = async (transaction: DatabaseTransaction): Promise<AgentRow> => {
      const before = await this.repository.lock(transaction, id);
      if (before === undefined) throw agentNotFound();
      const row = await this.repository.update(transaction, id, changes);
      const difference = differenceOf(described(before), described(row));
      if (difference !== undefined) {
        await this.audit.record(transaction, author, { ...changed('agent.update', id), ...difference });
      }
      return row;
    };
    const row = await (changes.enabled === false
      ? this.database.revocation({ agents: [id] }, work)
      : this.database.transaction(work));
    await this.changes.announce();
    return row;
  }

  /**
   * Deletes the agent, its tokens and its grants at once.
   * Errors: `agent_not_found`, `revocation_timeout`.
   */
  async delete(author: Author, id: string): Promise<void> {
    await this.require(id);
    await this.database.revocation({ agents: [id] }, async (transaction) => {
      const row = await this.repository.delete(transaction, id);
      if (row === undefined) throw agentNotFound();
      await this.audit.record(transaction, author, { ...changed('agent.delete', id), before: described(row) });
    });
    await this.changes.announce();
  }

  private async insert(transaction: DatabaseTransaction, body: CreateAgentBody): Promise<AgentRow> {
    const { name } = body;
    const enabled = body.enabled ?? AGENT_DEFAULTS.enabled;
    const visibility = body.visibility ?? AGENT_DEFAULTS.visibility;
    for (const id of typeof body.id === 'string' ? [body.id] : idCandidates(name, 'agent')) {
      const row = await this.repository.insert(transaction, { id, name, enabled, visibility });
      if (row !== undefined) return row;
    }
    throw new ProblemError('agent_conflict', 'Another agent has this id; choose another one.', {
      errors: [{ path: 'id', message: 'is taken' }],
    });
  }
}

function changed(action: AuditAction, id: string): Pick<AuditedChange, 'action' | 'target'> {
  return { action, target: { kind: 'agent', id } };
}

function described({ name, enabled, visibility }: AgentRow): Record<string, unknown> {
  return { name, enabled, visibility };
}

export function agentNotFound(): ProblemError {
  return new ProblemError('agent_not_found', 'There is no agent of this id.');
}
