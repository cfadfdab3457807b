import { differenceOf } from '../audit.difference.js';
import type { AuditAction, AuditedChange } from '../audit.entry.js';
import { displayUrl } from '../display-url.js';
import type { ConnectionRecord, SecretMark } from './connection.record.js';
import { settingsOf } from './connection.settings.js';
import { secretField, type SecretPlan } from './secret-changes.js';

/** A new connection with all its settings, for the audit log. */
export function createdConnection(record: ConnectionRecord, plan: SecretPlan): AuditedChange {
  return { ...about('connection.create', record), after: { ...described(record), ...secretChanges(plan) } };
}

/** What changed of a connection: settings as before and after, secrets by name only. */
export function changedConnection(before: ConnectionRecord, after: ConnectionRecord, plan: SecretPlan): AuditedChange {
  const difference = differenceOf(described(before), described(after));
  return {
    ...about('connection.update', after),
    before: { revision: before.revision, ...difference?.before },
    after: { revision: after.revision, ...difference?.after, ...secretChanges(plan) },
  };
}

export function deletedConnection(record: ConnectionRecord): AuditedChange {
  return { ...about('connection.delete', record), before: described(record) };
}

function about(action: AuditAction, { id }: ConnectionRecord): Pick<AuditedChange, 'action' | 'target'> {
  return { action, target: { kind: 'connection', id } };
}

function described(record: ConnectionRecord): Record<string, unknown> {
  const { baseUrl, ...settings } = settingsOf(record);
  return { ...settings, baseUrl: baseUrl === null ? null : displayUrl(baseUrl), secrets: record.secrets.map(nameOf) };
}

/** That a value was saved shows even where its name was there before. */
function secretChanges({ set }: SecretPlan): Record<string, unknown> {
  return set.length === 0 ? {} : { secretsSaved: set.map(nameOf) };
}

/** As in `headers.X-Key`; a header and a variable may have the same name. */
function nameOf({ kind, name }: Pick<SecretMark, 'kind' | 'name'>): string {
  return kind === 'api_key' ? secretField.api_key : `${secretField[kind]}.${name}`;
}
