import type { Migration } from '../src/migrator.js';

/** Receipts of imported event files: what each held, sealed in full, and what became of its rows. */
export const legacyEvents: Migration = {
  name: '0007-legacy-events',
  up: `
create table legacy_event_imports (
  -- SHA-256 of the path: a path may be longer than an index entry
  source_hash bytea primary key,
  source_path text not null,
  text_hash bytea not null,
  text_bytes integer not null,
  sealed bytea not null,
  key_id text not null,
  -- rows that became events; that found no room among the 200; of no connection; that could not be read
  imported integer not null default 0,
  surplus integer not null default 0,
  skipped integer not null default 0,
  malformed integer not null default 0,
  imported_at timestamptz(3) not null default now()
);
`,
};
