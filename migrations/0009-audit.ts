import type { Migration } from '../src/migrator.js';

/**
 * The audit log: one row for every change an operator makes, written in the transaction of the change. Each row carries
 * the hash of the one before, so rows are appended one at a time: `lock_audit_log` takes the lock first and reads the
 * newest row in a second statement, which sees what was committed before the lock was held. Nothing else may be waited
 * for while the lock is held, so appending is the last step of a change.
 */
export const audit: Migration = {
  name: '0009-audit',
  up: `
create table audit_log (
  sequence bigint primary key check (sequence > 0),
  at timestamptz(3) not null,
  actor jsonb not null,
  action text not null,
  target_kind text not null,
  target_id text not null,
  outcome text not null check (outcome in ('done', 'requested', 'refused')),
  request_id text,
  before jsonb,
  after jsonb,
  previous_hash bytea not null,
  hash bytea not null
);
create index audit_log_target on audit_log (target_kind, target_id, sequence desc);

create function lock_audit_log() returns table (sequence bigint, hash bytea) language plpgsql volatile as $$
begin
  perform pg_advisory_xact_lock(4, 0);
  return query select newest.sequence, newest.hash from audit_log as newest order by newest.sequence desc limit 1;
end
$$;

create function refuse_audit_change() returns trigger language plpgsql as $$
begin
  raise exception 'the audit log is only ever added to';
end
$$;
create trigger audit_log_append_only before update or delete or truncate on audit_log
  for each statement execute function refuse_audit_change();
`,
};
