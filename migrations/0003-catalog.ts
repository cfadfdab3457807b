import type { Migration } from '../src/migrator.js';

/** The stored tools of each provider: the definition as it came, its hash, and the words a search may match. */
export const catalog: Migration = {
  name: '0003-catalog',
  up: `
create table tools (
  provider_id text not null references providers (id) on delete cascade,
  name text not null,
  position integer not null,
  title text,
  description text,
  -- json, not jsonb: key order and number spelling stay as the provider sent them
  definition json not null,
  definition_hash text not null,
  search_terms text[] not null,
  primary key (provider_id, name)
);
create index tools_position on tools (provider_id, position);
`,
};
