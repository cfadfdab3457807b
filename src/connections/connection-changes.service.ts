import { Inject, Injectable } from '@nestjs/common';
import { AuditLog } from '../audit.service.js';
import type { Author } from '../author.js';
import { Changes } from '../changes.js';
import type { Settings } from '../config.js';
import { brokenUniqueConstraint, Database, type DatabaseTransaction } from '../database.js';
import { ProblemError } from '../errors.js';
import { idCandidates } from '../id-candidates.js';
import { holds } from '../principal.js';
import { SETTINGS } from '../settings.token.js';
import { connectionNotFound } from './connection-not-found.js';
import { changedConnection, createdConnection, deletedConnection } from './connection-audit.js';
import { type Proposal, proposeChange, proposeCreation } from './connection-proposal.js';
import { ConnectionSecrets } from './connection-secrets.service.js';
import { type ChangeConnectionBody, type CreateConnectionBody, isConnectionId } from './connection.dto.js';
import type { ConnectionRecord } from './connection.record.js';
import { idProblem } from './connection.rules.js';
import { mayRevoke } from './connection.settings.js';
import { ConnectionsRepository } from './connections.repository.js';
import { requireRevision } from './entity-tag.js';
import { outdatedRevision } from './launch-state.js';
import { refuseFields } from './refuse-fields.js';
import { SessionManager } from './session/session-manager.js';
import { checkStdioPolicy } from './stdio-policy.js';

/** Creates, changes and deletes connections. */
@Injectable()
export class ConnectionChanges {
  constructor(
    private readonly repository: ConnectionsRepository,
    private readonly secrets: ConnectionSecrets,
    private readonly database: Database,
    private readonly changes: Changes,
    private readonly sessions: SessionManager,
    private readonly audit: AuditLog,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /**
   * Saves a new connection with its secrets; starts nothing and grants nothing.
   * Errors: `forbidden`, `connection_conflict`, `connection_name_conflict`, those of the rules.
   */
  async create(author: Author, body: CreateConnectionBody): Promise<ConnectionRecord> {
    const proposal = proposeCreation(body);
    this.permit(author, proposal, proposal.plan.set);
    return namingConflicts(() =>
      this.database.transaction(async (transaction) => {
        const id = await this.insert(transaction, body.id ?? undefined, proposal);
        await this.checkAudience(transaction, proposal.settings.sealedAudience);
        await this.secrets.apply(transaction, id, proposal.plan);
        const record = await this.lock(transaction, id);
        await this.audit.record(transaction, author, createdConnection(record, proposal.plan));
        return record;
      }),
    );
  }

  /**
   * Changes a connection. What takes permission away holds on every replica when this resolves, and this replica's
   * session is gone when its launch settings changed.
   * Errors: `connection_not_found`, `stale_revision`, `forbidden`, `revocation_timeout`, those of the rules.
   */
  async change(author: Author, id: string, body: ChangeConnectionBody, ifMatch?: string): Promise<ConnectionRecord> {
    if (!isConnectionId(id)) throw connectionNotFound();
    const revoking = mayRevoke(body);
    const work = (transaction: DatabaseTransaction) => this.changeLocked(transaction, author, id, body, ifMatch);
    const { record, sessionEnds } = await namingConflicts(() =>
      revoking ? this.database.revocation({ connections: [id] }, work) : this.database.transaction(work),
    );
    if (revoking) await this.changes.announce();
    if (sessionEnds) await this.sessions.stop(id, outdatedRevision(record));
    return record;
  }

  /** Resolves when the rows are gone and this replica's sessions are stopped. Errors: `connection_not_found`. */
  async delete(author: Author, id: string): Promise<void> {
    if (!isConnectionId(id)) throw connectionNotFound();
    await this.database.revocation({ connections: [id] }, async (transaction) => {
      const record = await this.lock(transaction, id);
      await this.repository.delete(transaction, id);
      await this.audit.record(transaction, author, deletedConnection(record));
    });
    await this.changes.announce();
    await this.sessions.forget(id);
  }

  private async changeLocked(
    transaction: DatabaseTransaction,
    author: Author,
    id: string,
    body: ChangeConnectionBody,
    ifMatch: string | undefined,
  ): Promise<{ record: ConnectionRecord; sessionEnds: boolean }> {
    const stored = await this.lock(transaction, id);
    requireRevision(ifMatch, stored.revision);
    const proposal = proposeChange(stored, body);
    this.permit(author, proposal, [...proposal.plan.keep, ...proposal.plan.set]);
    if (Array.isArray(body.sealedAudience)) await this.checkAudience(transaction, body.sealedAudience);
    if (!proposal.changes) return { record: stored, sessionEnds: false };
    await this.secrets.apply(transaction, id, proposal.plan);
    await this.repository.update(transaction, id, proposal.settings, proposal.affectsLaunch);
    const record = await this.lock(transaction, id);
    await this.audit.record(transaction, author, changedConnection(stored, record, proposal.plan));
    return { record, sessionEnds: proposal.affectsLaunch };
  }

  private permit(
    author: Author,
    { settings, scopes, changesProcess }: Proposal,
    secrets: readonly { kind: string; name: string }[],
  ): void {
    const missing = scopes.find((scope) => !holds(author, scope));
    if (missing !== undefined) {
      throw new ProblemError('forbidden', `This needs an operator key with scope ${missing}.`);
    }
    if (!changesProcess || settings.command === null) return;
    checkStdioPolicy(
      { mode: this.settings.WARREN_STDIO, commands: this.settings.WARREN_STDIO_COMMANDS },
      {
        command: settings.command,
        args: settings.args,
        environmentNames: secrets.filter(({ kind }) => kind === 'environment').map(({ name }) => name),
      },
    );
  }

  private async lock(transaction: DatabaseTransaction, id: string): Promise<ConnectionRecord> {
    const record = await this.repository.lock(transaction, id);
    if (record === undefined) throw connectionNotFound();
    return record;
  }

  private async insert(
    transaction: DatabaseTransaction,
    chosenId: string | undefined,
    { settings }: Proposal,
  ): Promise<string> {
    const isReserved = (id: string): boolean => idProblem(id) !== undefined;
    const candidates = chosenId === undefined ? idCandidates(settings.name, 'connection', isReserved) : [chosenId];
    for (const id of candidates) {
      if (await this.repository.insert(transaction, id, settings)) return id;
    }
    throw new ProblemError('connection_conflict', 'There is a connection of this id already.', {
      errors: [{ path: 'id', message: 'is taken' }],
    });
  }

  private async checkAudience(transaction: DatabaseTransaction, audience: readonly string[]): Promise<void> {
    const ids = audience.map((entry) => entry.split('/', 1).join());
    const existing = await this.repository.existing(transaction, [...new Set(ids)]);
    refuseFields(
      'sealed_audience_unknown',
      'The sealed audience names what is not there',
      ids.flatMap((id, index) =>
        existing.has(id) ? [] : [{ path: `sealedAudience[${index}]`, message: 'names no existing connection' }],
      ),
    );
  }
}

async function namingConflicts<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (brokenUniqueConstraint(error) !== 'providers_connection_name') throw error;
    throw new ProblemError('connection_name_conflict', 'There is a connection of exactly this name already.', {
      errors: [{ path: 'name', message: 'is taken' }],
      cause: error,
    });
  }
}
