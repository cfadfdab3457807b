import type { Migration } from '../src/migrator.js';

/**
 * Running server instances and the receipts of calls. A receipt keeps plain ids, not references: it must outlive what
 * it speaks of.
 */
export const calls: Migration = {
  name: '0005-calls',
  up: `
create table instances (
  id uuid primary key,
  started_at timestamptz(3) not null default now(),
  seen_at timestamptz(3) not null default now()
);

create table calls (
  id text primary key,
  state text not null check (state in ('admitted', 'finished')),
  instance_id uuid not null,
  actor_kind text not null check (actor_kind in ('agent', 'operator')),
  credential_id text not null,
  agent_id text not null,
  provider_id text,
  provider_asked text not null,
  tool text not null,
  started_at timestamptz(3) not null,
  admitted_at timestamptz(3),
  finished_at timestamptz(3),
  grant_revision integer,
  definition_hash text,
  ok boolean,
  code text,
  reason text,
  sent text check (sent in ('no', 'maybe', 'yes')),
  duration_ms double precision,
  argument_bytes integer not null,
  result_bytes integer,
  protection jsonb,
  truncated boolean not null default false,
  argument_preview text,
  result_preview text
);
create index calls_started on calls (started_at desc, id desc);
create index calls_agent on calls (agent_id, started_at desc, id desc);
create index calls_provider on calls (provider_id, started_at desc, id desc);
create index calls_admitted on calls (instance_id) where state = 'admitted';
`,
};
