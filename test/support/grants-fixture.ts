import { CredentialsRepository } from '../../src/credentials.repository.js';
import { CredentialsService } from '../../src/credentials.service.js';
import { Changes } from '../../src/changes.js';
import { Database } from '../../src/database.js';
import { AgentTokensService } from '../../src/grants/agent-tokens.service.js';
import { AgentsRepository } from '../../src/grants/agents.repository.js';
import { AgentsService } from '../../src/grants/agents.service.js';
import { GrantWriter } from '../../src/grants/grant-writer.js';
import { GrantsRepository } from '../../src/grants/grants.repository.js';
import { GrantsService } from '../../src/grants/grants.service.js';
import { Keyring, SecretBox } from '../../src/secret-box.js';
import { ServerSecretsRepository } from '../../src/server-secrets.repository.js';
import { ServerSecrets } from '../../src/server-secrets.service.js';
import { auditLog } from './author.js';
import { createTestDatabase, type TestDatabase } from './test-database.js';

/** The grants room on a database of its own, with saved connections and stored tools to grant. */
export class GrantsFixture {
  readonly agents: AgentsService;
  readonly tokens: AgentTokensService;
  readonly credentials: CredentialsService;
  readonly grants: GrantsService;
  /** How often changes were announced. */
  announced = 0;

  private constructor(
    private readonly testDatabase: TestDatabase,
    readonly database: Database,
    secretBox: SecretBox,
  ) {
    const changes = new Changes();
    changes.subscribe(async () => {
      this.announced += 1;
    });
    const serverSecrets = new ServerSecrets(new ServerSecretsRepository(database), secretBox);
    const repository = new GrantsRepository(database);
    const audit = auditLog(database);
    this.agents = new AgentsService(new AgentsRepository(database), database, changes, audit);
    this.credentials = new CredentialsService(
      new CredentialsRepository(database),
      serverSecrets,
      database,
      changes,
      audit,
    );
    this.tokens = new AgentTokensService(this.agents, this.credentials);
    this.grants = new GrantsService(repository, new GrantWriter(repository), database, changes, audit);
  }

  /** `lockWaitMs`: how long its changes wait for a lock; as Warren's do when undefined. */
  static async open(lockWaitMs?: number): Promise<GrantsFixture> {
    const secretBox = await SecretBox.create(Keyring.parse(`test:${Buffer.alloc(32, 7).toString('base64')}`));
    const testDatabase = await createTestDatabase();
    return new GrantsFixture(testDatabase, new Database(testDatabase.pool('grants'), true, lockWaitMs), secretBox);
  }

  close(): Promise<void> {
    return this.testDatabase.drop();
  }

  /** A second pool, as another replica would have. */
  otherPool(): ReturnType<TestDatabase['pool']> {
    return this.testDatabase.pool('other');
  }

  /** Saves a connection whose catalog holds these tools; the hash of each is `<name>-1`. */
  async connection(id: string, tools: readonly string[], hidden: readonly string[] = []): Promise<void> {
    const { pool } = this.database;
    await pool.query(
      `insert into providers (id, kind, name, name_folded, transport) values ($1, 'connection', $1, $1, 'stdio')`,
      [id],
    );
    await pool.query(
      `insert into connections (id, command, lifecycle, connect_timeout_ms, call_timeout_ms, max_concurrent_calls,
         max_result_chars, session_scope, max_sessions, deny_tools)
       values ($1, 'true', 'ephemeral', 20000, 30000, 16, 60000, 'connection', 8, $2)`,
      [id, hidden.length === 0 ? null : hidden],
    );
    await pool.query(
      `insert into tools (provider_id, name, position, definition, definition_hash, search_terms)
       select $1, name, position, '{}', name || '-1', '{}' from unnest($2::text[]) with ordinality as t (name, position)`,
      [id, tools],
    );
  }

  async dropTool(connectionId: string, name: string): Promise<void> {
    await this.database.pool.query('delete from tools where provider_id = $1 and name = $2', [connectionId, name]);
  }

  async changeTool(connectionId: string, name: string, hash: string): Promise<void> {
    await this.database.pool.query('update tools set definition_hash = $3 where provider_id = $1 and name = $2', [
      connectionId,
      name,
      hash,
    ]);
  }

  /** The set of an agent as `connection/tool` in order. */
  async held(agentId: string): Promise<string[]> {
    return (await this.grants.read(agentId)).tools.map((tool) => `${tool.connectionId}/${tool.toolName}`);
  }
}

/** Tools of one connection, as a request names them. */
export function toolsOf(connectionId: string, ...names: string[]): { connectionId: string; toolName: string }[] {
  return names.map((toolName) => ({ connectionId, toolName }));
}
