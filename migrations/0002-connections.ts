import type { Migration } from '../src/migrator.js';

/**
 * Providers (what the menu offers, whatever stands behind it), saved connections and their sealed secrets.
 * Catalog tools and grants refer to `providers`, so that a mod can stand where a connection does.
 */
export const connections: Migration = {
  name: '0002-connections',
  up: `
create table providers (
  id text primary key,
  kind text not null check (kind in ('connection', 'mod')),
  name text not null,
  -- the name in simple lower case, folded by the server so that no database locale decides a look-up
  name_folded text not null,
  transport text not null check (transport in ('http', 'stdio', 'mod')),
  enabled boolean not null default true,
  created_at timestamptz(3) not null default now()
);
create unique index providers_connection_name on providers (name) where kind = 'connection';
create index providers_name_folded on providers (name_folded);

-- one sequence for all, so that a connection deleted and made again under its id is never taken for the old one
create sequence launch_revisions as integer;

create table connections (
  id text primary key references providers (id) on delete cascade,
  base_url text,
  command text,
  args jsonb not null default '[]',
  cwd text,
  lifecycle text not null check (lifecycle in ('ephemeral', 'keep_alive')),
  connect_timeout_ms integer not null,
  call_timeout_ms integer not null,
  max_concurrent_calls integer not null,
  max_result_chars integer not null,
  session_scope text not null check (session_scope in ('connection', 'agent')),
  max_sessions integer not null,
  sealed_audience jsonb not null default '[]',
  allow_tools text[],
  deny_tools text[],
  seals_values boolean not null default false,
  revision integer not null default 1,
  -- new with each change that ends live sessions: command, arguments, environment, URL, secrets, lifecycle, enabled
  launch_revision integer not null default nextval('launch_revisions'),
  protocol_era jsonb,
  catalog jsonb,
  last_known jsonb,
  updated_at timestamptz(3) not null default now()
);

create table connection_secrets (
  connection_id text not null references connections (id) on delete cascade,
  kind text not null check (kind in ('api_key', 'environment', 'header', 'query_parameter', 'argument')),
  name text not null,
  position integer not null,
  sealed bytea not null,
  key_id text not null,
  -- what was noticed of the value when it was saved: 'placeholder', 'short'
  flags text[] not null default '{}',
  primary key (connection_id, kind, name)
);

create table connection_events (
  id bigint generated always as identity primary key,
  connection_id text not null references connections (id) on delete cascade,
  at timestamptz(3) not null default now(),
  status text not null,
  reason text,
  imported boolean not null default false
);
create index connection_events_connection on connection_events (connection_id, id desc);
`,
};
