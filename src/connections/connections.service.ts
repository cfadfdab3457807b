import { Injectable } from '@nestjs/common';
import type { AuditedChange } from '../audit.entry.js';
import { AuditLog } from '../audit.service.js';
import type { Author } from '../author.js';
import { Changes } from '../changes.js';
import { Database, type DatabaseTransaction } from '../database.js';
import type { CatalogSummary, CatalogWarning, LastKnown, LearnedEra } from '../database.schema.js';
import { ProblemError } from '../errors.js';
import { decodeCursor, DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, type Page, pageOf } from '../pagination.js';
import { connectionNotFound } from './connection-not-found.js';
import { type ExportedServer, exportedServer } from './connection-export.js';
import { ConnectionLaunches } from './connection-launches.service.js';
import { presentConnection } from './connection-presenter.js';
import type { ConnectionAnswer } from './connection.answer.js';
import { type ConnectionQuery, isConnectionId } from './connection.dto.js';
import type { ConnectionLaunch } from './connection.launch.js';
import type { ConnectionRecord } from './connection.record.js';
import type { ConnectionWarning } from './connection.warnings.js';
import { ConnectionsRepository } from './connections.repository.js';
import { invalidCursor } from './invalid-cursor.js';
import { type LaunchState, outdatedRevision } from './launch-state.js';
import { toProviderProblem } from './provider-problem.js';
import { SessionManager } from './session/session-manager.js';

/** Discovers the catalog of a connection; resolves with a warning when that failed. */
export type DiscoveryHook = (connectionId: string, author: Author) => Promise<CatalogWarning | undefined>;

/** Saved connections as the rest of Warren knows them. Changes of them are in `ConnectionChanges`. */
@Injectable()
export class ConnectionsService {
  private discover: DiscoveryHook = () => Promise.resolve(undefined);

  constructor(
    private readonly repository: ConnectionsRepository,
    private readonly launches: ConnectionLaunches,
    private readonly sessions: SessionManager,
    private readonly database: Database,
    private readonly changes: Changes,
    private readonly audit: AuditLog,
  ) {}

  /** Registered at composition by the room that discovers catalogs. */
  onDiscoveryWanted(callback: DiscoveryHook): void {
    this.discover = callback;
  }

  /** Errors: `connection_not_found`. */
  async require(id: string): Promise<ConnectionRecord> {
    const record = isConnectionId(id) ? await this.repository.find(id) : undefined;
    if (record === undefined) throw connectionNotFound();
    return record;
  }

  /**
   * What a session needs to know, secrets opened; undefined when there is no such connection.
   * Errors: `SecretBoxError` when a secret cannot be opened.
   */
  async launchOf(id: string): Promise<ConnectionLaunch | undefined> {
    return isConnectionId(id) ? this.launches.launchOf(id) : undefined;
  }

  /** What decides about the sessions of those of these connections that exist. */
  launchStates(ids: readonly string[]): Promise<Map<string, LaunchState>> {
    return this.repository.launchStates(ids);
  }

  /** In order of id. `state` is what this process knows, so such a page may take several reads. */
  async list(query: ConnectionQuery): Promise<Page<ConnectionAnswer>> {
    const limit = query.limit ?? DEFAULT_PAGE_SIZE;
    const filter = {
      text: query.query?.toLowerCase(),
      enabled: query.enabled === undefined ? undefined : query.enabled === 'true',
      limit: query.state === undefined ? limit + 1 : MAX_PAGE_SIZE,
    };
    let afterId = idOfCursor(query.cursor);
    const found: ConnectionRecord[] = [];
    for (;;) {
      const batch = await this.repository.list({ ...filter, afterId });
      found.push(
        ...batch.filter(({ id }) => query.state === undefined || this.sessions.live(id).state === query.state),
      );
      if (found.length > limit || batch.length < filter.limit) break;
      afterId = batch.at(-1)?.id;
    }
    return pageOf(
      found,
      limit,
      (record) => this.present(record),
      ({ id }) => [id],
    );
  }

  /** Every connection without its secret values, in the shape that desktop MCP clients read. */
  async export(): Promise<{ mcpServers: Record<string, ExportedServer> }> {
    const servers: [string, ExportedServer][] = [];
    let afterId: string | undefined;
    for (;;) {
      const batch = await this.repository.list({ afterId, limit: MAX_PAGE_SIZE });
      servers.push(...batch.map((record): [string, ExportedServer] => [record.name, exportedServer(record)]));
      if (batch.length < MAX_PAGE_SIZE) return { mcpServers: Object.fromEntries(servers) };
      afterId = batch.at(-1)?.id;
    }
  }

  /**
   * Starts this replica's lasting session.
   * Errors: `connection_not_found`, `lifecycle_not_keep_alive`, `connection_disabled`, `provider_unreachable`,
   * `provider_timeout`, `busy`.
   */
  async start(author: Author, id: string): Promise<ConnectionRecord> {
    const record = requireKeepAlive(await this.require(id));
    if (!record.enabled) throw new ProblemError('connection_disabled', 'Enable the connection before starting it.');
    const launch = await this.launches.launchOf(id);
    if (launch === undefined) throw connectionNotFound();
    await this.database.transaction((transaction) =>
      this.audit.record(transaction, author, { ...sessionChange('start', id), outcome: 'requested' }),
    );
    try {
      await this.sessions.start(launch);
    } catch (error) {
      throw toProviderProblem(error, launch.redactor);
    }
    return this.require(id);
  }

  /**
   * Ends the lasting sessions on all replicas: here before this resolves, elsewhere as soon as they notice. The next
   * call starts them again.
   * Errors: `connection_not_found`, `lifecycle_not_keep_alive`.
   */
  async stop(author: Author, id: string): Promise<ConnectionRecord> {
    requireKeepAlive(await this.require(id));
    await this.database.revocation({ connections: [id] }, async (transaction) => {
      await this.repository.renewLaunch(transaction, id);
      await this.audit.record(transaction, author, sessionChange('stop', id));
    });
    await this.changes.announce();
    await this.sessions.stop(id, outdatedRevision(await this.require(id)));
    return this.require(id);
  }

  /** Discovers at once; a failure is told as a warning. */
  async discoverNew(author: Author, id: string): Promise<ConnectionWarning[]> {
    const warning = await this.discover(id, author).catch((error: unknown) => ({
      message: error instanceof ProblemError ? error.detail : 'The catalog could not be discovered.',
    }));
    return warning === undefined ? [] : [{ field: 'catalog', code: 'discovery_failed', message: warning.message }];
  }

  /** A connection as it is answered, with what this process knows of its session. */
  present(record: ConnectionRecord, furtherWarnings: readonly ConnectionWarning[] = []): ConnectionAnswer {
    return presentConnection(record, this.sessions.live(record.id), furtherWarnings);
  }

  /** Keeps the summary of a discovery, in the transaction that replaces the tools. */
  recordDiscovery(transaction: DatabaseTransaction, id: string, summary: CatalogSummary): Promise<void> {
    return this.repository.saveCatalog(transaction, id, summary);
  }

  /** Remembers the protocol era a provider was seen to speak; null forgets it. */
  recordEra(id: string, era: LearnedEra | null): Promise<void> {
    return this.repository.saveEra(id, era);
  }

  recordLastKnown(id: string, lastKnown: LastKnown): Promise<void> {
    return this.repository.saveLastKnown(id, lastKnown);
  }
}

function sessionChange(does: 'start' | 'stop', id: string): AuditedChange {
  return { action: `connection.${does}`, target: { kind: 'connection', id } };
}

function requireKeepAlive(record: ConnectionRecord): ConnectionRecord {
  if (record.lifecycle === 'keep_alive') return record;
  throw new ProblemError('lifecycle_not_keep_alive', 'Only keep_alive connections have a session to start or stop.');
}

function idOfCursor(cursor: string | undefined): string | undefined {
  if (cursor === undefined) return undefined;
  const id = String(decodeCursor(cursor, ['string'])[0]);
  if (!isConnectionId(id)) throw invalidCursor();
  return id;
}
