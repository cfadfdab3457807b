import type { Migration } from '../src/migrator.js';

/** Exact grants. No reference to `tools`: a grant outlives its tool's absence from the catalog. */
export const grants: Migration = {
  name: '0004-grants',
  up: `
create table grants (
  agent_id text not null references agents (id) on delete cascade,
  provider_id text not null references providers (id) on delete cascade,
  tool_name text not null,
  definition_hash text,
  granted_at timestamptz(3) not null default now(),
  primary key (agent_id, provider_id, tool_name)
);
create index grants_provider on grants (provider_id, tool_name, agent_id);
`,
};
