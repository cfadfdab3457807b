import type { Migration } from '../src/migrator.js';

/**
 * Cancellations that reached a replica which does not run the call: each waits a minute for the replica that does.
 * `call_key` is the SHA-256 of what names the call, since a request id may be anything a client sends.
 */
export const callCancellations: Migration = {
  name: '0008-call-cancellations',
  up: `
create table call_cancellations (
  agent_id text not null,
  call_key text not null,
  cancelled_at timestamptz not null default clock_timestamp(),
  primary key (agent_id, call_key)
);
create index call_cancellations_cancelled_at on call_cancellations (cancelled_at);
`,
};
