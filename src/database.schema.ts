import type { ColumnType, Generated } from 'kysely';

/** A jsonb column: read as a value, written as JSON text (node-postgres would turn an array into a PostgreSQL array). */
type Json<T> = ColumnType<T, string, string>;
type WithDefault<T> = ColumnType<T, T | undefined, T>;

export interface ServerSecretsTable {
  name: string;
  sealed: Buffer;
  key_id: string;
  created_at: Generated<Date>;
}

export type AgentVisibility = 'all' | 'granted';

export interface AgentsTable {
  id: string;
  name: string;
  enabled: WithDefault<boolean>;
  visibility: WithDefault<AgentVisibility>;
  grant_revision: WithDefault<number>;
  created_at: Generated<Date>;
  updated_at: WithDefault<Date>;
}

export type CredentialKind = 'operator' | 'agent';

/** `environment`: the key that WARREN_ADMIN_KEY names; it works only as long as it is named. */
export type CredentialSource = 'api' | 'environment';

export interface CredentialsTable {
  id: string;
  kind: CredentialKind;
  agent_id: string | null;
  name: string | null;
  scopes: WithDefault<string[]>;
  source: WithDefault<CredentialSource>;
  token_hash: Buffer;
  expires_at: Date | null;
  created_at: Generated<Date>;
}

export type Transport = 'http' | 'stdio';
export type Lifecycle = 'ephemeral' | 'keep_alive';
export type SessionScope = 'connection' | 'agent';

export interface ProvidersTable {
  id: string;
  kind: 'connection' | 'mod';
  name: string;
  name_folded: string;
  transport: Transport | 'mod';
  enabled: WithDefault<boolean>;
  created_at: Generated<Date>;
}

/** One launch argument: literal text, or the name of a sealed one. */
export type LaunchArgument = string | { secret: string };

/** What discovery last found, kept with the connection. */
export interface CatalogSummary {
  revision: number;
  discoveredAt: string;
  toolCount: number;
  protocolVersion: string | null;
  serverName: string | null;
  serverVersion: string | null;
  warnings: CatalogWarning[];
}

export interface CatalogWarning {
  tool?: string;
  code: string;
  message: string;
}

/** The protocol era a provider was last seen to speak, with the date of that finding. */
export interface LearnedEra {
  era: 'legacy' | 'modern';
  learnedAt: string;
  /** The provider's `server/discover` answer, for the modern era. */
  discover?: unknown;
}

export interface LastKnown {
  status: 'starting' | 'ready' | 'unavailable' | 'stopped';
  at: string;
  reason?: string;
}

export interface ConnectionsTable {
  id: string;
  base_url: string | null;
  command: string | null;
  args: Json<LaunchArgument[]>;
  cwd: string | null;
  lifecycle: Lifecycle;
  connect_timeout_ms: number;
  call_timeout_ms: number;
  max_concurrent_calls: number;
  max_result_chars: number;
  session_scope: SessionScope;
  max_sessions: number;
  sealed_audience: Json<string[]>;
  allow_tools: string[] | null;
  deny_tools: string[] | null;
  seals_values: boolean;
  revision: WithDefault<number>;
  launch_revision: WithDefault<number>;
  protocol_era: ColumnType<LearnedEra | null, string | null | undefined, string | null>;
  catalog: ColumnType<CatalogSummary | null, string | null | undefined, string | null>;
  last_known: ColumnType<LastKnown | null, string | null | undefined, string | null>;
  updated_at: WithDefault<Date>;
}

export type SecretKind = 'api_key' | 'environment' | 'header' | 'query_parameter' | 'argument';

export interface ConnectionSecretsTable {
  connection_id: string;
  kind: SecretKind;
  name: string;
  position: number;
  sealed: Buffer;
  key_id: string;
  flags: WithDefault<string[]>;
}

export interface ConnectionEventsTable {
  id: Generated<number>;
  connection_id: string;
  at: WithDefault<Date>;
  status: string;
  reason: string | null;
  imported: WithDefault<boolean>;
}

export interface LegacyEventImportsTable {
  source_hash: Buffer;
  source_path: string;
  text_hash: Buffer;
  text_bytes: number;
  sealed: Buffer;
  key_id: string;
  imported: WithDefault<number>;
  surplus: WithDefault<number>;
  skipped: WithDefault<number>;
  malformed: WithDefault<number>;
  imported_at: Generated<Date>;
}

export interface ToolsTable {
  provider_id: string;
  name: string;
  position: number;
  title: string | null;
  description: string | null;
  definition: Json<Record<string, unknown>>;
  definition_hash: string;
  search_terms: string[];
}

export interface GrantsTable {
  agent_id: string;
  provider_id: string;
  tool_name: string;
  definition_hash: string | null;
  granted_at: WithDefault<Date>;
}

export interface InstancesTable {
  id: string;
  started_at: Generated<Date>;
  seen_at: WithDefault<Date>;
  /** What tells its keys apart, the current one first. */
  key_ids: WithDefault<string[]>;
}

/** `requested`: the effect follows the row (a session is started); `refused`: the operator may not. */
export type AuditOutcome = 'done' | 'requested' | 'refused';

/** Who made a change: an operator key, the `warren` command on the database, or the server's own environment. */
export interface AuditActor {
  kind: 'operator' | 'command' | 'environment';
  /** Public id of the operator key. */
  id: string | null;
  name: string | null;
}

export interface AuditLogTable {
  /** 1, 2, 3 … without gaps; read as text. */
  sequence: ColumnType<string, number, never>;
  at: Date;
  actor: Json<AuditActor>;
  action: string;
  target_kind: string;
  target_id: string;
  outcome: AuditOutcome;
  request_id: string | null;
  before: ColumnType<unknown, string | null, never>;
  after: ColumnType<unknown, string | null, never>;
  previous_hash: Buffer;
  hash: Buffer;
}

/** Cancellations that wait for the replica that runs the call. */
export interface CallCancellationsTable {
  agent_id: string;
  call_key: string;
  cancelled_at: Generated<Date>;
}

export interface CallProtection {
  status: 'clean' | 'redacted' | 'sealed' | 'withheld';
  redacted: number;
  sealed: number;
  types: string[];
}

export interface CallsTable {
  id: string;
  state: 'admitted' | 'finished';
  instance_id: string;
  actor_kind: CredentialKind;
  credential_id: string;
  agent_id: string;
  provider_id: string | null;
  provider_asked: string;
  tool: string;
  started_at: Date;
  admitted_at: Date | null;
  finished_at: Date | null;
  grant_revision: number | null;
  definition_hash: string | null;
  ok: boolean | null;
  code: string | null;
  reason: string | null;
  sent: 'no' | 'maybe' | 'yes' | null;
  duration_ms: number | null;
  argument_bytes: number;
  result_bytes: number | null;
  protection: ColumnType<CallProtection | null, string | null | undefined, string | null>;
  truncated: WithDefault<boolean>;
  argument_preview: string | null;
  result_preview: string | null;
}

/** Every table, as Kysely sees them; `migrations/` is the authority. */
export interface DatabaseSchema {
  server_secrets: ServerSecretsTable;
  agents: AgentsTable;
  credentials: CredentialsTable;
  providers: ProvidersTable;
  connections: ConnectionsTable;
  connection_secrets: ConnectionSecretsTable;
  connection_events: ConnectionEventsTable;
  legacy_event_imports: LegacyEventImportsTable;
  tools: ToolsTable;
  grants: GrantsTable;
  instances: InstancesTable;
  audit_log: AuditLogTable;
  calls: CallsTable;
  call_cancellations: CallCancellationsTable;
}
