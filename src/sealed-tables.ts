import type { SealContext } from './secret-box.js';

type SealedRow = Record<string, unknown>;

/** A table with sealed values: a column `sealed` and, beside it, `key_id`, the key it is sealed under. */
export interface SealedTable {
  name: 'server_secrets' | 'connection_secrets' | 'legacy_event_imports';
  /** Its primary key. */
  keys: readonly string[];
  /** Columns that the context is made of. */
  context: readonly string[];
  /** What the sealed value of a row is bound to. */
  contextOf(row: SealedRow): SealContext;
  /** Rows that are re-sealed in one transaction. */
  batch: number;
}

/** Every table that holds sealed values. A rotation takes them in this order. */
export const sealedTables: readonly SealedTable[] = [
  {
    name: 'server_secrets',
    keys: ['name'],
    context: ['name'],
    contextOf: ({ name }) => serverSecretContext(String(name)),
    batch: 100,
  },
  {
    name: 'connection_secrets',
    keys: ['connection_id', 'kind', 'name'],
    context: ['connection_id', 'kind', 'name'],
    contextOf: (row) => connectionSecretContext(String(row['connection_id']), String(row['kind']), String(row['name'])),
    batch: 100,
  },
  {
    name: 'legacy_event_imports',
    keys: ['source_hash'],
    context: ['source_path'],
    contextOf: ({ source_path: path }) => legacyTextContext(String(path)),
    // each may be 16 MiB
    batch: 1,
  },
];

export function serverSecretContext(name: string): SealContext {
  return { owner: 'warren', kind: 'server', name };
}

export function connectionSecretContext(connectionId: string, kind: string, name: string): SealContext {
  return { owner: connectionId, kind, name };
}

export function legacyTextContext(sourcePath: string): SealContext {
  return { owner: sourcePath, kind: 'legacy_events', name: 'text' };
}
