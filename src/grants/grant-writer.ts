import { Injectable } from '@nestjs/common';
import type { DatabaseTransaction } from '../database.js';
import { ProblemError } from '../errors.js';
import { MAX_GRANTS_PER_AGENT, refuseUnknown } from './grant-problems.js';
import { GrantsRepository } from './grants.repository.js';
import type { NamedTool, ToolKey } from './tool-key.js';

/** What every one of the agents gets and loses; `others` is all that is not in `add`. */
export interface GrantChange {
  add: readonly NamedTool[];
  remove: readonly ToolKey[] | 'others';
}

/** Which grants of one agent are new, and which are gone. */
export interface GrantDifference {
  added: ToolKey[];
  removed: ToolKey[];
}

/** The one place where grants change. */
@Injectable()
export class GrantWriter {
  constructor(private readonly repository: GrantsRepository) {}

  /**
   * Applies one change to each of the agents (which exist, each named once) and raises the revision of those whose set
   * became another one. Runs inside a revocation of these agents.
   * Errors: `grant_unknown_connection`, `grant_unknown_tool`, `limit_reached`; the transaction is then to be rolled back.
   */
  async write(
    transaction: DatabaseTransaction,
    agentIds: readonly string[],
    { add, remove }: GrantChange,
  ): Promise<Map<string, GrantDifference>> {
    const removes = remove === 'others' ? [] : remove;
    await this.repository.holdProviders(transaction, agentIds, [...add, ...removes], remove === 'others');
    const facts = await this.repository.wantedFacts(transaction, agentIds, add);
    refuseUnknown(add, facts);
    const listed = add.flatMap((tool, index) => {
      const hash = facts[index]?.definition_hash;
      return typeof hash === 'string' ? [{ ...tool, definitionHash: hash }] : [];
    });
    const removed =
      remove === 'others'
        ? await this.repository.removeOthers(transaction, agentIds, add)
        : await this.repository.remove(transaction, agentIds, remove);
    const added = await this.repository.add(transaction, agentIds, listed);

    const differences = new Map<string, GrantDifference>(agentIds.map((id) => [id, { added: [], removed: [] }]));
    for (const { agentId, ...tool } of added) differences.get(agentId)?.added.push(tool);
    for (const { agentId, ...tool } of removed) differences.get(agentId)?.removed.push(tool);
    const changed = [...differences].filter(([, difference]) => isChange(difference)).map(([id]) => id);
    if (changed.length > 0) {
      await this.refuseOverfull(transaction, changed);
      await this.repository.raiseRevisions(transaction, changed);
    }
    return differences;
  }

  private async refuseOverfull(transaction: DatabaseTransaction, agentIds: readonly string[]): Promise<void> {
    const over = await this.repository.agentsOver(transaction, agentIds, MAX_GRANTS_PER_AGENT);
    if (over.length === 0) return;
    throw new ProblemError(
      'limit_reached',
      `An agent holds at most ${MAX_GRANTS_PER_AGENT} grants; nothing was changed. Over it: ${over.slice(0, 5).join(', ')}.`,
    );
  }
}

/** Whether there is anything in it. */
export function isChange({ added, removed }: GrantDifference): boolean {
  return added.length + removed.length > 0;
}
