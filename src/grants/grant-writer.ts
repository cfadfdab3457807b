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

/** How many grants of one agent are new, and how many are gone. */
export interface GrantTally {
  added: number;
  removed: number;
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
  ): Promise<Map<string, GrantTally>> {
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

    const tallies = new Map<string, GrantTally>(agentIds.map((id) => [id, { added: 0, removed: 0 }]));
    for (const id of added) count(tallies, id).added += 1;
    for (const id of removed) count(tallies, id).removed += 1;
    const changed = [...tallies].filter(([, tally]) => tally.added + tally.removed > 0).map(([id]) => id);
    if (changed.length > 0) {
      await this.refuseOverfull(transaction, changed);
      await this.repository.raiseRevisions(transaction, changed);
    }
    return tallies;
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

function count(tallies: Map<string, GrantTally>, agentId: string): GrantTally {
  const tally = tallies.get(agentId) ?? { added: 0, removed: 0 };
  tallies.set(agentId, tally);
  return tally;
}
