import { Injectable } from '@nestjs/common';
import type { AuditedChange } from '../audit.entry.js';
import { AuditLog } from '../audit.service.js';
import type { Author } from '../author.js';
import { Changes } from '../changes.js';
import { requireRevision } from '../connections/entity-tag.js';
import { Database, type DatabaseTransaction } from '../database.js';
import { invalidField } from '../errors.js';
import { decodeCursor, DEFAULT_PAGE_SIZE, pageOf, type Page } from '../pagination.js';
import { AGENT_ID } from './agent-id.js';
import { agentNotFound } from './agents.service.js';
import { refuseOverlap, refuseTooManyPairs, refuseUnknownAgents } from './grant-problems.js';
import { type GrantChange, type GrantDifference, GrantWriter, isChange } from './grant-writer.js';
import {
  type ApplyGrantsBody,
  type AppliedGrantsAnswer,
  type GrantAnswer,
  grantAnswer,
  grantedToolAnswer,
  type GrantListQuery,
  type GrantSetAnswer,
  type PatchGrantsBody,
  type ReplaceGrantsBody,
} from './grants.dto.js';
import { GrantsRepository, type HeldGrant } from './grants.repository.js';
import { nameTools, type ToolKey } from './tool-key.js';

/** A grant as the menu needs it. */
export interface GrantedTool {
  providerId: string;
  toolName: string;
  /** Of the definition that was granted. */
  definitionHash: string | null;
  /** False when the tool has left the catalog or is hidden there. */
  present: boolean;
}

/** How many grants an agent holds on one provider, and how many of those tools are in the catalog and not hidden. */
export interface GrantCounts {
  held: number;
  present: number;
}

/**
 * Exact grants of exact tools to exact agents. Every change holds the agents' locks, so that once it is answered no call
 * that lost its permission begins to be written.
 */
@Injectable()
export class GrantsService {
  constructor(
    private readonly repository: GrantsRepository,
    private readonly writer: GrantWriter,
    private readonly database: Database,
    private readonly changes: Changes,
    private readonly audit: AuditLog,
  ) {}

  /** Errors: `agent_not_found`. */
  async read(agentId: string): Promise<GrantSetAnswer> {
    const set = AGENT_ID.test(agentId) ? await this.repository.snapshot(agentId) : undefined;
    if (set === undefined) throw agentNotFound();
    return setAnswer(set.revision, set.grants);
  }

  /**
   * Makes the tools named the agent's complete set. A grant held before keeps its hash and its time.
   * Errors: `agent_not_found`, `stale_revision`, `grant_unknown_connection`, `grant_unknown_tool`, `limit_reached`,
   * `revocation_timeout`; nothing has changed then.
   */
  replace(author: Author, agentId: string, body: ReplaceGrantsBody, ifMatch?: string): Promise<GrantSetAnswer> {
    return this.changeOne(author, agentId, { add: nameTools('tools', body.tools), remove: 'others' }, ifMatch);
  }

  /**
   * Adds and removes without touching the rest; doing it twice is the same as once.
   * Errors: as `replace`, and `validation_failed` for a tool in both lists.
   */
  async patch(author: Author, agentId: string, body: PatchGrantsBody, ifMatch?: string): Promise<GrantSetAnswer> {
    return this.changeOne(author, agentId, listsOf(body), ifMatch);
  }

  /**
   * Adds and removes for several agents, all or nothing.
   * Errors: as `patch`, with `grant_unknown_agent` in place of `agent_not_found`.
   */
  async apply(author: Author, body: ApplyGrantsBody): Promise<AppliedGrantsAnswer> {
    if (body.agentIds.length === 0) throw invalidField('agentIds', 'must name at least one agent');
    const agentIds = [...new Set(body.agentIds)];
    const change = listsOf(body);
    refuseTooManyPairs(agentIds.length, change.add.length + change.remove.length);
    const items = await this.database.revocation({ agents: agentIds }, async (transaction) => {
      refuseUnknownAgents(body.agentIds, new Set((await this.repository.revisions(agentIds, transaction)).keys()));
      const differences = await this.writer.write(transaction, agentIds, change);
      const revisions = await this.repository.revisions(agentIds, transaction);
      await this.record(transaction, author, differences, revisions);
      return [...differences].map(([agentId, { added, removed }]) => ({
        agentId,
        revision: revisions.get(agentId) ?? 0,
        added: added.length,
        removed: removed.length,
      }));
    });
    await this.changes.announce();
    return { items };
  }

  /** Who may call what. Errors: `cursor_invalid`. */
  async list(query: GrantListQuery): Promise<Page<GrantAnswer>> {
    const limit = query.limit ?? DEFAULT_PAGE_SIZE;
    const filter = { agentId: query.agentId, providerId: query.connectionId, toolName: query.toolName };
    const rows = await this.repository.list(filter, limit + 1, positionOf(query.cursor));
    return pageOf(rows, limit, grantAnswer, (row) => [row.agent_id, row.provider_id, row.tool_name]);
  }

  /** In order of provider and tool name; empty for an unknown agent. */
  async grantedTools(agentId: string): Promise<GrantedTool[]> {
    return (await this.repository.ofAgent(agentId)).map((grant) => ({
      providerId: grant.provider_id,
      toolName: grant.tool_name,
      definitionHash: grant.definition_hash,
      present: grant.current_definition_hash !== null,
    }));
  }

  /** By provider id; a provider without a grant is not in the map. */
  async countsByProvider(agentId: string): Promise<Map<string, GrantCounts>> {
    const rows = await this.repository.counts(agentId);
    return new Map(rows.map(({ provider_id, held, present }) => [provider_id, { held, present }]));
  }

  /** Whether the agent holds any grant on the provider, its tool present or not. */
  holdsGrantOn(agentId: string, providerId: string): Promise<boolean> {
    return this.repository.holdsOnProvider(agentId, providerId);
  }

  /** A look, never a permission: only the admission of a call reads the grant under the lock. */
  isGranted(agentId: string, providerId: string, toolName: string): Promise<boolean> {
    return this.repository.isHeld(agentId, { providerId, toolName });
  }

  private async changeOne(
    author: Author,
    agentId: string,
    change: GrantChange,
    ifMatch: string | undefined,
  ): Promise<GrantSetAnswer> {
    if (!AGENT_ID.test(agentId)) throw agentNotFound();
    const answer = await this.database.revocation({ agents: [agentId] }, async (transaction) => {
      requireRevision(ifMatch, await this.revision(transaction, agentId));
      const differences = await this.writer.write(transaction, [agentId], change);
      const revision = await this.revision(transaction, agentId);
      const set = setAnswer(revision, await this.repository.ofAgent(agentId, transaction));
      await this.record(transaction, author, differences, new Map([[agentId, revision]]));
      return set;
    });
    await this.changes.announce();
    return answer;
  }

  /** One row for each agent whose set became another one. */
  private record(
    transaction: DatabaseTransaction,
    author: Author,
    differences: ReadonlyMap<string, GrantDifference>,
    revisions: ReadonlyMap<string, number>,
  ): Promise<void> {
    const changes = [...differences].flatMap(([agentId, difference]): AuditedChange[] => {
      if (!isChange(difference)) return [];
      const revision = revisions.get(agentId) ?? 0;
      return [
        {
          action: 'grants.change',
          target: { kind: 'agent', id: agentId },
          before: { revision: revision - 1, removed: difference.removed.map(grantKey) },
          after: { revision, added: difference.added.map(grantKey) },
        },
      ];
    });
    return this.audit.record(transaction, author, ...changes);
  }

  private async revision(transaction: DatabaseTransaction, agentId: string): Promise<number> {
    const revision = (await this.repository.revisions([agentId], transaction)).get(agentId);
    if (revision === undefined) throw agentNotFound();
    return revision;
  }
}

function listsOf(body: PatchGrantsBody): { add: ReturnType<typeof nameTools>; remove: ReturnType<typeof nameTools> } {
  const lists = { add: nameTools('add', body.add), remove: nameTools('remove', body.remove) };
  refuseOverlap(lists.add, lists.remove);
  return lists;
}

function grantKey({ providerId, toolName }: ToolKey): { connectionId: string; toolName: string } {
  return { connectionId: providerId, toolName };
}

function positionOf(cursor: string | undefined): readonly [string, string, string] | undefined {
  if (cursor === undefined) return undefined;
  const [agentId, providerId, toolName] = decodeCursor(cursor, ['string', 'string', 'string']);
  return [String(agentId), String(providerId), String(toolName)];
}

function setAnswer(revision: number, grants: readonly HeldGrant[]): GrantSetAnswer {
  return { revision, tools: grants.map(grantedToolAnswer) };
}
