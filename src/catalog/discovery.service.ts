import { setMaxListeners } from 'node:events';
import { Injectable } from '@nestjs/common';
import { AuditLog } from '../audit.service.js';
import type { Author } from '../author.js';
import { connectionNotFound } from '../connections/connection-not-found.js';
import type { ConnectionLaunch } from '../connections/connection.launch.js';
import { ConnectionsService } from '../connections/connections.service.js';
import type { ProviderIdentity } from '../connections/session/provider-session.js';
import { Database } from '../database.js';
import type { CatalogSummary, CatalogWarning } from '../database.schema.js';
import { untilAborted } from '../deadline.js';
import { ProblemError } from '../errors.js';
import { toProblem } from '../problem.filter.js';
import { toStorableJson } from '../storable-text.js';
import { CatalogReader, type CatalogReading } from './catalog-reader.js';
import { limitWarnings } from './catalog-warning.js';
import { toDiscoveryProblem } from './discovery-problem.js';
import type { Discovery, DiscoveryOutcome } from './discovery.dto.js';
import { DiscoveryRepository } from './discovery.repository.js';
import { prepareCatalog, type PreparedTool } from './prepared-catalog.js';
import { type SchemaSurvey, surveySchemas } from './schema-survey.js';
import { type CatalogDifference, ToolsService } from './tools.service.js';

/** Providers read at once by one request for many. */
const CONCURRENCY = 4;
/** Settings that change while a provider is read make its list worthless; it is read this often before giving up. */
const MAX_READINGS = 3;
/** Longest text kept of what a provider says of itself. */
const MAX_IDENTITY_TEXT = 1_000;

/** Whose discovery it is, when an operator asked for it, and what ends the waiting for it. */
export interface DiscoveryCaller {
  author?: Author | undefined;
  signal?: AbortSignal | undefined;
}

interface Run {
  author?: Author | undefined;
  readonly result: Promise<Discovery>;
}

/** Reads the tool list of connections and stores it; a discovery that fails, however late, changes nothing. */
@Injectable()
export class DiscoveryService {
  private readonly running = new Map<string, Run>();
  private readonly closing = new AbortController();

  constructor(
    private readonly connections: ConnectionsService,
    private readonly reader: CatalogReader,
    private readonly repository: DiscoveryRepository,
    private readonly tools: ToolsService,
    private readonly database: Database,
    private readonly audit: AuditLog,
  ) {
    // each run listens while it lasts, and there may be many
    setMaxListeners(0, this.closing.signal);
  }

  /**
   * Replaces the stored catalog of a connection by what its provider lists now. Callers at the same time share one run;
   * a caller's signal ends only its own waiting. The first that names an author is the one the audit log names.
   * Errors: `connection_not_found`, `connection_disabled`, `provider_unreachable`, `provider_timeout`, `busy`.
   */
  discover(connectionId: string, { author, signal }: DiscoveryCaller = {}): Promise<Discovery> {
    const run = this.running.get(connectionId) ?? this.start(connectionId);
    run.author ??= author;
    return signal === undefined ? run.result : untilAborted(run.result, signal);
  }

  /** As `discover`, but never answers with a run that began before. */
  async discoverAnew(connectionId: string): Promise<Discovery> {
    await this.running.get(connectionId)?.result.catch(() => undefined);
    return this.discover(connectionId);
  }

  /** Discovers these connections, or every enabled one; one outcome each, in the order given. */
  async discoverMany(ids: readonly string[] | undefined, author?: Author): Promise<DiscoveryOutcome[]> {
    const wanted = ids === undefined ? await this.repository.enabled() : [...new Set(ids)];
    const outcomes: DiscoveryOutcome[] = [];
    const queue = wanted.entries();
    const work = async (): Promise<void> => {
      for (const [place, connectionId] of queue) outcomes[place] = await this.outcomeOf(connectionId, author);
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, work));
    return outcomes;
  }

  /** Ends what runs, and waits until nothing of it touches the database any more. */
  async close(): Promise<void> {
    this.closing.abort(new ProblemError('shutting_down', 'The server is shutting down.'));
    await Promise.allSettled([...this.running.values()].map(({ result }) => result));
  }

  private async outcomeOf(connectionId: string, author: Author | undefined): Promise<DiscoveryOutcome> {
    try {
      return { connectionId, ok: true, discovery: await this.discover(connectionId, { author }) };
    } catch (error) {
      const { code, reason, detail } = toProblem(error);
      return { connectionId, ok: false, error: { code, ...(reason === undefined ? {} : { reason }), detail } };
    }
  }

  private start(connectionId: string): Run {
    const started: { author?: Author | undefined } = {};
    const result = this.run(connectionId, started).finally(() => this.running.delete(connectionId));
    const run = Object.assign(started, { result });
    this.running.set(connectionId, run);
    return run;
  }

  private async run(connectionId: string, caller: Pick<Run, 'author'>): Promise<Discovery> {
    const startedAt = performance.now();
    for (let readings = 1; readings <= MAX_READINGS; readings += 1) {
      const discovery = await this.readAndStore(connectionId, caller);
      if (discovery !== undefined) return { ...discovery, durationMs: Math.round(performance.now() - startedAt) };
    }
    throw new ProblemError('provider_unreachable', 'The settings kept changing while the catalog was read.', {
      reason: 'unknown',
    });
  }

  /** Undefined when the launch settings changed meanwhile, so that what was read is of another provider. */
  private async readAndStore(
    connectionId: string,
    caller: Pick<Run, 'author'>,
  ): Promise<Omit<Discovery, 'durationMs'> | undefined> {
    this.closing.signal.throwIfAborted();
    const { catalog } = await this.connections.require(connectionId);
    const launch = await this.connections.launchOf(connectionId);
    if (launch === undefined) throw connectionNotFound();
    if (!launch.enabled) throw new ProblemError('connection_disabled', 'Enable the connection before discovering it.');
    const reading = await this.read(launch);
    if (reading === undefined) return undefined;
    const prepared = await prepareCatalog(reading.pages?.tools ?? [], launch.redactor, reading);
    const stored = await this.tools.storedHashes(connectionId);
    const survey = await surveySchemas(prepared.tools, stored, catalog?.warnings ?? []);
    const told = [...(reading.pages?.warnings ?? []), ...prepared.warnings, ...survey.warnings];
    const warnings = [...catalogRemarks(reading, survey), ...limitWarnings(told)];
    return this.store(launch, identityOf(reading.identity, launch), prepared.tools, warnings, caller);
  }

  /** Undefined when a change of the launch settings ended the session meanwhile. */
  private async read(launch: ConnectionLaunch): Promise<CatalogReading | undefined> {
    try {
      return await this.reader.read(launch, this.closing.signal);
    } catch (error) {
      this.closing.signal.throwIfAborted();
      if (!(await this.reader.isCurrent(launch))) return undefined;
      throw toDiscoveryProblem(error, launch);
    }
  }

  private store(
    { id, launchRevision }: ConnectionLaunch,
    identity: ReturnType<typeof identityOf>,
    tools: readonly PreparedTool[],
    warnings: CatalogWarning[],
    { author }: Pick<Run, 'author'>,
  ): Promise<Omit<Discovery, 'durationMs'> | undefined> {
    return this.database.transaction(async (transaction) => {
      const connection = await this.repository.lock(transaction, id);
      if (connection === undefined) throw connectionNotFound();
      if (connection.launch_revision !== launchRevision) return undefined;
      const difference: CatalogDifference = await this.tools.replace(
        transaction,
        id,
        tools.map(({ stored }) => stored),
      );
      const summary: CatalogSummary = {
        revision: (connection.catalog?.revision ?? 0) + 1,
        discoveredAt: new Date().toISOString(),
        toolCount: tools.length,
        ...identity,
        warnings,
      };
      await this.connections.recordDiscovery(transaction, id, summary);
      if (author !== undefined) {
        await this.audit.record(transaction, author, {
          action: 'connection.discover',
          target: { kind: 'connection', id },
          before: connection.catalog && sizeOf(connection.catalog),
          after: { ...sizeOf(summary), ...difference },
        });
      }
      return { connectionId: id, revision: summary.revision, toolCount: tools.length, ...difference, warnings };
    });
  }
}

function sizeOf({ revision, toolCount }: CatalogSummary): { revision: number; toolCount: number } {
  return { revision, toolCount };
}

/** What concerns the catalog as a whole. */
function catalogRemarks({ pages }: CatalogReading, { unseen }: SchemaSurvey): CatalogWarning[] {
  const remarks: CatalogWarning[] = [];
  if (pages === undefined) {
    remarks.push({ code: 'tools_not_supported', message: 'the provider has no tool list; its catalog is empty' });
  }
  if (unseen > 0) {
    remarks.push({ code: 'schemas_not_surveyed', message: `${unseen} input schemas were not looked at in time` });
  }
  return remarks;
}

function identityOf(
  { protocolVersion, serverName, serverVersion }: ProviderIdentity,
  launch: ConnectionLaunch,
): Pick<CatalogSummary, 'protocolVersion' | 'serverName' | 'serverVersion'> {
  const said = toStorableJson(launch.redactor.json({ protocolVersion, serverName, serverVersion }).value)
    .value as Record<string, unknown>;
  const text = (value: unknown): string | null =>
    typeof value === 'string' ? value.slice(0, MAX_IDENTITY_TEXT) : null;
  return {
    protocolVersion: text(said.protocolVersion),
    serverName: text(said.serverName),
    serverVersion: text(said.serverVersion),
  };
}
