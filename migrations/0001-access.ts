import type { Migration } from '../src/migrator.js';

/** Agents, and one table for every bearer credential: operator keys and agent tokens. */
export const access: Migration = {
  name: '0001-access',
  up: `
create table server_secrets (
  name text primary key,
  sealed bytea not null,
  key_id text not null,
  created_at timestamptz(3) not null default now()
);

create table agents (
  id text primary key,
  name text not null,
  enabled boolean not null default true,
  visibility text not null default 'all' check (visibility in ('all', 'granted')),
  grant_revision integer not null default 0,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);

create table credentials (
  id text primary key,
  kind text not null check (kind in ('operator', 'agent')),
  agent_id text references agents (id) on delete cascade,
  name text,
  scopes text[] not null default '{}',
  source text not null default 'api' check (source in ('api', 'environment')),
  token_hash bytea not null,
  expires_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  check ((kind = 'agent') = (agent_id is not null))
);
create index credentials_agent on credentials (agent_id, created_at) where agent_id is not null;
`,
};
