import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { CapabilitiesSearch } from '../../src/catalog/capabilities-search.service.js';
import { CatalogIndex } from '../../src/catalog/catalog-index.js';
import { CatalogReader } from '../../src/catalog/catalog-reader.js';
import { CatalogRefresher } from '../../src/catalog/catalog-refresher.js';
import { DiscoveryRepository } from '../../src/catalog/discovery.repository.js';
import { DiscoveryService } from '../../src/catalog/discovery.service.js';
import { ProvidersRepository } from '../../src/catalog/providers.repository.js';
import { ProvidersService } from '../../src/catalog/providers.service.js';
import { ToolsRepository } from '../../src/catalog/tools.repository.js';
import { ToolsService } from '../../src/catalog/tools.service.js';
import { Changes } from '../../src/changes.js';
import { readConfig } from '../../src/config.js';
import { ConnectionChanges } from '../../src/connections/connection-changes.service.js';
import { ConnectionLaunches } from '../../src/connections/connection-launches.service.js';
import { ConnectionSecretsRepository } from '../../src/connections/connection-secrets.repository.js';
import { ConnectionSecrets } from '../../src/connections/connection-secrets.service.js';
import type { CreateConnectionBody } from '../../src/connections/connection.dto.js';
import { ConnectionsRepository } from '../../src/connections/connections.repository.js';
import { ConnectionsService } from '../../src/connections/connections.service.js';
import { ProviderProcesses } from '../../src/connections/session/provider-processes.js';
import { SessionListeners } from '../../src/connections/session/session-listeners.js';
import { SessionManager } from '../../src/connections/session/session-manager.js';
import { SessionOpener } from '../../src/connections/session/session-opener.js';
import { Database } from '../../src/database.js';
import { Instance } from '../../src/instance.js';
import { Logger } from '../../src/logger.js';
import { OwnSecrets } from '../../src/own-secrets.js';
import { SafeFetch } from '../../src/safe-fetch.js';
import { Keyring, SecretBox } from '../../src/secret-box.js';
import { admin, auditLog } from './author.js';
import { createTestDatabase, type TestDatabase } from './test-database.js';

const PROVIDERS = path.resolve('test/providers');

/** What the scripted provider does; see test/providers/script-provider.mjs. */
export type Script = Record<string, unknown> & { pages?: unknown[] };

/** The catalog room on a database of its own, with real provider processes. */
export class CatalogFixture {
  readonly listeners = new SessionListeners();
  readonly log: string[] = [];
  readonly connections: ConnectionsService;
  readonly changes: ConnectionChanges;
  readonly processes: ProviderProcesses;
  readonly sessions: SessionManager;
  readonly reader: CatalogReader;
  readonly discovery: DiscoveryService;
  readonly discoveryRepository: DiscoveryRepository;
  readonly refresher: CatalogRefresher;
  readonly tools: ToolsService;
  readonly providers: ProvidersService;
  readonly search: CapabilitiesSearch;
  private readonly directory = mkdtempSync(path.join(tmpdir(), 'warren-catalog-'));

  private constructor(
    private readonly testDatabase: TestDatabase,
    readonly database: Database,
    box: SecretBox,
  ) {
    const { settings } = readConfig({
      PATH: `${path.dirname(process.execPath)}:/usr/bin:/bin`,
      WARREN_ALLOW_PRIVATE_NETWORKS: '127.0.0.1',
    });
    const ownSecrets = new OwnSecrets([]);
    const logger = new Logger('debug', ownSecrets, (line) => this.log.push(line));
    const announcements = new Changes();
    const audit = auditLog(database, ownSecrets);
    const connectionsRepository = new ConnectionsRepository(database);
    const secrets = new ConnectionSecrets(new ConnectionSecretsRepository(database), box);
    const launches = new ConnectionLaunches(secrets, ownSecrets);
    const safeFetch = new SafeFetch({
      allowedNetworks: settings.WARREN_ALLOW_PRIVATE_NETWORKS,
      ownListeners: () => [],
    });
    this.processes = new ProviderProcesses(settings, new Instance());
    const opener = new SessionOpener(this.processes, safeFetch, settings);
    this.sessions = new SessionManager(opener, this.processes, this.listeners, settings);
    this.connections = new ConnectionsService(
      connectionsRepository,
      launches,
      this.sessions,
      database,
      announcements,
      audit,
    );
    this.changes = new ConnectionChanges(
      connectionsRepository,
      secrets,
      database,
      announcements,
      this.sessions,
      audit,
      settings,
    );
    const toolsRepository = new ToolsRepository(database);
    const providersRepository = new ProvidersRepository(database);
    const index = new CatalogIndex(toolsRepository);
    this.tools = new ToolsService(toolsRepository, providersRepository, index);
    this.providers = new ProvidersService(providersRepository);
    this.search = new CapabilitiesSearch(providersRepository, index, this.tools);
    this.discoveryRepository = new DiscoveryRepository(database);
    this.reader = new CatalogReader(this.sessions, this.connections);
    this.discovery = new DiscoveryService(
      this.connections,
      this.reader,
      this.discoveryRepository,
      this.tools,
      database,
      audit,
    );
    this.refresher = new CatalogRefresher(
      this.discovery,
      this.discoveryRepository,
      this.connections,
      this.sessions,
      logger,
      settings,
    );
  }

  static async open(): Promise<CatalogFixture> {
    const box = await SecretBox.create(Keyring.parse(`test:${Buffer.alloc(32, 7).toString('base64')}`));
    const testDatabase = await createTestDatabase();
    return new CatalogFixture(testDatabase, new Database(testDatabase.pool('catalog')), box);
  }

  async close(): Promise<void> {
    await this.discovery.close();
    await this.refresher.close();
    await this.sessions.onApplicationShutdown();
    rmSync(this.directory, { recursive: true, force: true });
    await this.testDatabase.drop();
  }

  /** Saves a stdio connection that runs one of test/providers. */
  async connect(id: string, provider: string, args: string[], more: Partial<CreateConnectionBody> = {}): Promise<void> {
    const launch = {
      transport: 'stdio' as const,
      command: process.execPath,
      args: [path.join(PROVIDERS, provider), ...args],
    };
    await this.changes.create(admin, { id, name: id, ...launch, ...more });
  }

  /** Saves an HTTP connection. */
  async connectHttp(id: string, baseUrl: string): Promise<void> {
    await this.changes.create(admin, { id, name: id, transport: 'http', baseUrl });
  }

  /** Saves a connection to the scripted provider. */
  async connectScript(id: string, script: Script, more: Partial<CreateConnectionBody> = {}): Promise<void> {
    this.script(id, script);
    const environmentVariables = [
      { name: 'FAKE_LOG', value: this.path(`${id}.log`) },
      ...(more.environmentVariables ?? []),
    ];
    await this.connect(id, 'script-provider.mjs', [this.path(`${id}.json`)], { ...more, environmentVariables });
  }

  /** Another script for a running or later provider. */
  script(id: string, script: Script): void {
    writeFileSync(this.path(`${id}.json`), JSON.stringify(script));
  }

  /** What the scripted provider was asked: `start` or `list`. */
  asked(id: string): string[] {
    const file = this.path(`${id}.log`);
    if (!existsSync(file)) return [];
    // the last line may be half written
    const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
    return lines.map((line) => (JSON.parse(line) as { event: string }).event);
  }

  /** Waits until the scripted provider was asked this. */
  async untilAsked(id: string, event: string): Promise<void> {
    while (!this.asked(id).includes(event)) await delay(10);
  }

  path(name: string): string {
    return path.join(this.directory, name);
  }

  change(id: string, body: Parameters<ConnectionChanges['change']>[2]): Promise<unknown> {
    return this.changes.change(admin, id, body);
  }

  /** An agent that holds these tools. */
  async agent(id: string, held: Record<string, string[]> = {}): Promise<void> {
    await this.database.pool.query('insert into agents (id, name) values ($1, $1)', [id]);
    for (const [providerId, names] of Object.entries(held)) {
      await this.database.pool.query(
        `insert into grants (agent_id, provider_id, tool_name) select $1, $2, unnest($3::text[])`,
        [id, providerId, names],
      );
    }
  }

  /** Names of the stored tools in catalog order. */
  async stored(id: string): Promise<string[]> {
    return (await this.tools.definitions(id)).map(({ name }) => name);
  }
}

/** A tool as a provider lists it. */
export function tool(name: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  return { name, description: `The tool ${name}.`, inputSchema: { type: 'object' }, ...more };
}
