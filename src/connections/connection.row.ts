import type { Selectable } from 'kysely';
import type { ConnectionsTable, ProvidersTable } from '../database.schema.js';
import type { ConnectionRecord, SecretMark } from './connection.record.js';
import type { ConnectionSettings } from './connection.settings.js';

/** A connection as the repository reads it. */
export type ConnectionRow = Selectable<ConnectionsTable> &
  Pick<Selectable<ProvidersTable>, 'name' | 'transport' | 'enabled' | 'created_at'> & {
    secrets: { kind: SecretMark['kind']; name: string; position: number; flags: string[] }[];
  };

/** A row as the rest of the room knows it. */
export function toRecord(row: ConnectionRow): ConnectionRecord {
  return {
    id: row.id,
    name: row.name,
    // A mod has no row in `connections`.
    transport: row.transport === 'stdio' ? 'stdio' : 'http',
    baseUrl: row.base_url,
    command: row.command,
    args: row.args,
    cwd: row.cwd,
    lifecycle: row.lifecycle,
    enabled: row.enabled,
    connectTimeoutMs: row.connect_timeout_ms,
    callTimeoutMs: row.call_timeout_ms,
    maxConcurrentCalls: row.max_concurrent_calls,
    maxResultChars: row.max_result_chars,
    sessionScope: row.session_scope,
    maxSessions: row.max_sessions,
    sealedAudience: row.sealed_audience,
    allowTools: row.allow_tools,
    denyTools: row.deny_tools,
    sealsValues: row.seals_values,
    secrets: row.secrets as SecretMark[],
    revision: row.revision,
    launchRevision: row.launch_revision,
    era: row.protocol_era,
    catalog: row.catalog,
    lastKnown: row.last_known,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

/** The part of the settings that every provider has. */
export function providerColumns({ name, enabled }: ConnectionSettings) {
  return { name, name_folded: name.toLowerCase(), enabled };
}

/** The part of the settings that only connections have. */
export function settingsColumns(settings: ConnectionSettings) {
  return {
    base_url: settings.baseUrl,
    command: settings.command,
    args: JSON.stringify(settings.args),
    cwd: settings.cwd,
    lifecycle: settings.lifecycle,
    connect_timeout_ms: settings.connectTimeoutMs,
    call_timeout_ms: settings.callTimeoutMs,
    max_concurrent_calls: settings.maxConcurrentCalls,
    max_result_chars: settings.maxResultChars,
    session_scope: settings.sessionScope,
    max_sessions: settings.maxSessions,
    sealed_audience: JSON.stringify(settings.sealedAudience),
    allow_tools: settings.allowTools,
    deny_tools: settings.denyTools,
    seals_values: settings.sealsValues,
  };
}
