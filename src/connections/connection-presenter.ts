import type { SecretKind } from '../database.schema.js';
import type { ConfiguredAnswer, ConnectionAnswer } from './connection.answer.js';
import type { ConnectionRecord, SecretMark } from './connection.record.js';
import { type ConnectionWarning, warningsOf } from './connection.warnings.js';
import type { LiveState } from './session/live-state.js';

/** A connection as it is answered: of secrets only that they are configured. */
export function presentConnection(
  record: ConnectionRecord,
  live: LiveState,
  furtherWarnings: readonly ConnectionWarning[] = [],
): ConnectionAnswer {
  const { secrets } = record;
  return {
    id: record.id,
    name: record.name,
    transport: record.transport,
    baseUrl: record.baseUrl,
    queryParameters: configured(secrets, 'query_parameter'),
    apiKeyConfigured: secrets.some(({ kind }) => kind === 'api_key'),
    headers: configured(secrets, 'header'),
    command: record.command,
    args: record.args.map((argument) =>
      typeof argument === 'string' ? argument : { secret: argument.secret, configured: true },
    ),
    cwd: record.cwd,
    environmentVariables: configured(secrets, 'environment'),
    lifecycle: record.lifecycle,
    enabled: record.enabled,
    connectTimeoutMs: record.connectTimeoutMs,
    callTimeoutMs: record.callTimeoutMs,
    maxConcurrentCalls: record.maxConcurrentCalls,
    maxResultChars: record.maxResultChars,
    sessionScope: record.sessionScope,
    maxSessions: record.maxSessions,
    sealedAudience: record.sealedAudience,
    allowTools: record.allowTools,
    denyTools: record.denyTools,
    sealsValues: record.sealsValues,
    warnings: [...warningsOf(record, secrets), ...furtherWarnings],
    catalog: record.catalog,
    live,
    lastKnown: record.lastKnown,
    revision: record.revision,
    createdAt: record.createdAt.toISOString(),
    updatedAt: record.updatedAt.toISOString(),
  };
}

function configured(secrets: readonly SecretMark[], of: SecretKind): ConfiguredAnswer[] {
  return secrets.filter(({ kind }) => kind === of).map(({ name }) => ({ name, configured: true }));
}
