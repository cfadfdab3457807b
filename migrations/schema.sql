create table agents (
  id text not null,
  name text not null,
  enabled boolean not null default true,
  visibility text not null default 'all'::text,
  grant_revision integer not null default 0,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  constraint agents_pkey PRIMARY KEY (id),
  constraint agents_visibility_check CHECK ((visibility = ANY (ARRAY['all'::text, 'granted'::text])))
);

create table audit_log (
  sequence bigint not null,
  at timestamp(3) with time zone not null,
  actor jsonb not null,
  action text not null,
  target_kind text not null,
  target_id text not null,
  outcome text not null,
  request_id text,
  before jsonb,
  after jsonb,
  previous_hash bytea not null,
  hash bytea not null,
  constraint audit_log_outcome_check CHECK ((outcome = ANY (ARRAY['done'::text, 'requested'::text, 'refused'::text]))),
  constraint audit_log_pkey PRIMARY KEY (sequence),
  constraint audit_log_sequence_check CHECK ((sequence > 0))
);

create table call_cancellations (
  agent_id text not null,
  call_key text not null,
  cancelled_at timestamp with time zone not null default clock_timestamp(),
  constraint call_cancellations_pkey PRIMARY KEY (agent_id, call_key)
);

create table calls (
  id text not null,
  state text not null,
  instance_id uuid not null,
  actor_kind text not null,
  credential_id text not null,
  agent_id text not null,
  provider_id text,
  provider_asked text not null,
  tool text not null,
  started_at timestamp(3) with time zone not null,
  admitted_at timestamp(3) with time zone,
  finished_at timestamp(3) with time zone,
  grant_revision integer,
  definition_hash text,
  ok boolean,
  code text,
  reason text,
  sent text,
  duration_ms double precision,
  argument_bytes integer not null,
  result_bytes integer,
  protection jsonb,
  truncated boolean not null default false,
  argument_preview text,
  result_preview text,
  constraint calls_actor_kind_check CHECK ((actor_kind = ANY (ARRAY['agent'::text, 'operator'::text]))),
  constraint calls_pkey PRIMARY KEY (id),
  constraint calls_sent_check CHECK ((sent = ANY (ARRAY['no'::text, 'maybe'::text, 'yes'::text]))),
  constraint calls_state_check CHECK ((state = ANY (ARRAY['admitted'::text, 'finished'::text])))
);

create table connection_events (
  id bigint not null generated always as identity,
  connection_id text not null,
  at timestamp(3) with time zone not null default now(),
  status text not null,
  reason text,
  imported boolean not null default false,
  constraint connection_events_connection_id_fkey FOREIGN KEY (connection_id) REFERENCES connections(id) ON DELETE CASCADE,
  constraint connection_events_pkey PRIMARY KEY (id)
);

create table connection_secrets (
  connection_id text not null,
  kind text not null,
  name text not null,
  "position" integer not null,
  sealed bytea not null,
  key_id text not null,
  flags text[] not null default '{}'::text[],
  constraint connection_secrets_connection_id_fkey FOREIGN KEY (connection_id) REFERENCES connections(id) ON DELETE CASCADE,
  constraint connection_secrets_kind_check CHECK ((kind = ANY (ARRAY['api_key'::text, 'environment'::text, 'header'::text, 'query_parameter'::text, 'argument'::text]))),
  constraint connection_secrets_pkey PRIMARY KEY (connection_id, kind, name)
);

create table connections (
  id text not null,
  base_url text,
  command text,
  args jsonb not null default '[]'::jsonb,
  cwd text,
  lifecycle text not null,
  connect_timeout_ms integer not null,
  call_timeout_ms integer not null,
  max_concurrent_calls integer not null,
  max_result_chars integer not null,
  session_scope text not null,
  max_sessions integer not null,
  sealed_audience jsonb not null default '[]'::jsonb,
  allow_tools text[],
  deny_tools text[],
  seals_values boolean not null default false,
  revision integer not null default 1,
  launch_revision integer not null default nextval('launch_revisions'::regclass),
  protocol_era jsonb,
  catalog jsonb,
  last_known jsonb,
  updated_at timestamp(3) with time zone not null default now(),
  constraint connections_id_fkey FOREIGN KEY (id) REFERENCES providers(id) ON DELETE CASCADE,
  constraint connections_lifecycle_check CHECK ((lifecycle = ANY (ARRAY['ephemeral'::text, 'keep_alive'::text]))),
  constraint connections_pkey PRIMARY KEY (id),
  constraint connections_session_scope_check CHECK ((session_scope = ANY (ARRAY['connection'::text, 'agent'::text])))
);

create table credentials (
  id text not null,
  kind text not null,
  agent_id text,
  name text,
  scopes text[] not null default '{}'::text[],
  source text not null default 'api'::text,
  token_hash bytea not null,
  expires_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null default now(),
  constraint credentials_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agents(id) ON DELETE CASCADE,
  constraint credentials_check CHECK (((kind = 'agent'::text) = (agent_id IS NOT NULL))),
  constraint credentials_kind_check CHECK ((kind = ANY (ARRAY['operator'::text, 'agent'::text]))),
  constraint credentials_pkey PRIMARY KEY (id),
  constraint credentials_source_check CHECK ((source = ANY (ARRAY['api'::text, 'environment'::text])))
);

create table grants (
  agent_id text not null,
  provider_id text not null,
  tool_name text not null,
  definition_hash text,
  granted_at timestamp(3) with time zone not null default now(),
  constraint grants_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agents(id) ON DELETE CASCADE,
  constraint grants_pkey PRIMARY KEY (agent_id, provider_id, tool_name),
  constraint grants_provider_id_fkey FOREIGN KEY (provider_id) REFERENCES providers(id) ON DELETE CASCADE
);

create table instances (
  id uuid not null,
  started_at timestamp(3) with time zone not null default now(),
  seen_at timestamp(3) with time zone not null default now(),
  key_ids text[] not null default '{}'::text[],
  constraint instances_pkey PRIMARY KEY (id)
);

create table legacy_event_imports (
  source_hash bytea not null,
  source_path text not null,
  text_hash bytea not null,
  text_bytes integer not null,
  sealed bytea not null,
  key_id text not null,
  imported integer not null default 0,
  surplus integer not null default 0,
  skipped integer not null default 0,
  malformed integer not null default 0,
  imported_at timestamp(3) with time zone not null default now(),
  constraint legacy_event_imports_pkey PRIMARY KEY (source_hash)
);

create table providers (
  id text not null,
  kind text not null,
  name text not null,
  name_folded text not null,
  transport text not null,
  enabled boolean not null default true,
  created_at timestamp(3) with time zone not null default now(),
  constraint providers_kind_check CHECK ((kind = ANY (ARRAY['connection'::text, 'mod'::text]))),
  constraint providers_pkey PRIMARY KEY (id),
  constraint providers_transport_check CHECK ((transport = ANY (ARRAY['http'::text, 'stdio'::text, 'mod'::text])))
);

create table server_secrets (
  name text not null,
  sealed bytea not null,
  key_id text not null,
  created_at timestamp(3) with time zone not null default now(),
  constraint server_secrets_pkey PRIMARY KEY (name)
);

create table tools (
  provider_id text not null,
  name text not null,
  "position" integer not null,
  title text,
  description text,
  definition json not null,
  definition_hash text not null,
  search_terms text[] not null,
  constraint tools_pkey PRIMARY KEY (provider_id, name),
  constraint tools_provider_id_fkey FOREIGN KEY (provider_id) REFERENCES providers(id) ON DELETE CASCADE
);

create table warren_migrations (
  "position" integer not null,
  name text not null,
  applied_at timestamp with time zone not null default now(),
  constraint warren_migrations_name_key UNIQUE (name),
  constraint warren_migrations_pkey PRIMARY KEY ("position")
);

CREATE INDEX audit_log_target ON public.audit_log USING btree (target_kind, target_id, sequence DESC);

CREATE INDEX call_cancellations_cancelled_at ON public.call_cancellations USING btree (cancelled_at);

CREATE INDEX calls_admitted ON public.calls USING btree (instance_id) WHERE (state = 'admitted'::text);

CREATE INDEX calls_agent ON public.calls USING btree (agent_id, started_at DESC, id DESC);

CREATE INDEX calls_provider ON public.calls USING btree (provider_id, started_at DESC, id DESC);

CREATE INDEX calls_started ON public.calls USING btree (started_at DESC, id DESC);

CREATE INDEX connection_events_connection ON public.connection_events USING btree (connection_id, id DESC);

CREATE INDEX credentials_agent ON public.credentials USING btree (agent_id, created_at) WHERE (agent_id IS NOT NULL);

CREATE INDEX grants_provider ON public.grants USING btree (provider_id, tool_name, agent_id);

CREATE INDEX providers_name_folded ON public.providers USING btree (name_folded);

CREATE INDEX tools_position ON public.tools USING btree (provider_id, "position");

CREATE UNIQUE INDEX providers_connection_name ON public.providers USING btree (name) WHERE (kind = 'connection'::text);

CREATE OR REPLACE FUNCTION public.admit_call(p_call_id text, p_instance_id uuid, p_credential_id text, p_agent_id text, p_provider_id text, p_tool text, p_provider_asked text, p_started_at timestamp with time zone, p_argument_bytes integer, p_argument_preview text, p_token_expires_at timestamp with time zone DEFAULT NULL::timestamp with time zone)
 RETURNS TABLE(admitted boolean, credential_valid boolean, agent_enabled boolean, provider_enabled boolean, tool_listed boolean, granted boolean, holds_grant_on_provider boolean, visibility text, grant_revision integer, definition_hash text, launch_revision integer, expires_in_ms double precision, waited_ms double precision)
 LANGUAGE plpgsql
AS $function$
declare
  began timestamptz := clock_timestamp();
  facts record;
begin
  -- first statement: the locks
  perform pg_advisory_xact_lock_shared(1, hashtext(p_provider_id));
  perform pg_advisory_xact_lock_shared(2, hashtext(p_agent_id));
  perform pg_advisory_xact_lock_shared(3, hashtext(p_credential_id));
  waited_ms := extract(epoch from clock_timestamp() - began)::double precision * 1000;
  -- second statement: the facts
  select * into facts from call_facts(p_credential_id, p_agent_id, p_provider_id, p_tool, p_token_expires_at);

  admitted := facts.credential_valid and facts.agent_enabled and facts.provider_enabled and facts.tool_listed
    and facts.granted;
  credential_valid := facts.credential_valid;
  agent_enabled := facts.agent_enabled;
  provider_enabled := facts.provider_enabled;
  tool_listed := facts.tool_listed;
  granted := facts.granted;
  holds_grant_on_provider := facts.holds_grant_on_provider;
  visibility := facts.visibility;
  grant_revision := facts.grant_revision;
  definition_hash := facts.definition_hash;
  launch_revision := facts.launch_revision;
  expires_in_ms := facts.expires_in_ms;
  if admitted then
    insert into calls as call (id, state, instance_id, actor_kind, credential_id, agent_id, provider_id, provider_asked,
      tool, started_at, admitted_at, grant_revision, definition_hash, argument_bytes, argument_preview)
    values (p_call_id, 'admitted', p_instance_id, facts.actor_kind, p_credential_id, p_agent_id, p_provider_id,
      p_provider_asked, p_tool, p_started_at, clock_timestamp(), facts.grant_revision, facts.definition_hash,
      p_argument_bytes, p_argument_preview)
    on conflict on constraint calls_pkey do update set admitted_at = excluded.admitted_at,
      grant_revision = excluded.grant_revision, definition_hash = excluded.definition_hash;
  end if;
  return next;
end
$function$
;

CREATE OR REPLACE FUNCTION public.call_facts(p_credential_id text, p_agent_id text, p_provider_id text, p_tool text, p_token_expires_at timestamp with time zone DEFAULT NULL::timestamp with time zone)
 RETURNS TABLE(credential_valid boolean, agent_enabled boolean, provider_enabled boolean, tool_listed boolean, granted boolean, holds_grant_on_provider boolean, actor_kind text, visibility text, grant_revision integer, definition_hash text, launch_revision integer, expires_in_ms double precision)
 LANGUAGE sql
 STABLE
AS $function$
  select
    case when p_token_expires_at is null then coalesce(
      (credential.expires_at is null or credential.expires_at > clock_timestamp())
      and (credential.agent_id = agent.id
        or (credential.kind = 'operator' and credential.scopes && array['write', 'admin'])), false)
    else credential.id is null and agent.id is not null and p_token_expires_at > clock_timestamp() end,
    coalesce(agent.enabled, false),
    coalesce(provider.enabled, false),
    tool.name is not null
      and (connection.allow_tools is null or tool.name = any (connection.allow_tools))
      and (connection.deny_tools is null or not tool.name = any (connection.deny_tools)),
    held.tool_name is not null,
    held.tool_name is not null
      or exists (select from grants as any_held where any_held.agent_id = agent.id and any_held.provider_id = provider.id),
    coalesce(credential.kind, 'agent'),
    coalesce(agent.visibility, 'all'),
    agent.grant_revision,
    tool.definition_hash,
    connection.launch_revision,
    extract(epoch from coalesce(p_token_expires_at, credential.expires_at) - clock_timestamp())::double precision * 1000
  from (select 1) as one
  left join credentials as credential on credential.id = p_credential_id
  left join agents as agent on agent.id = p_agent_id
  left join providers as provider on provider.id = p_provider_id
  left join connections as connection on connection.id = provider.id
  left join tools as tool on tool.provider_id = provider.id and tool.name = p_tool
  left join grants as held
    on held.agent_id = agent.id and held.provider_id = provider.id and held.tool_name = p_tool
$function$
;

CREATE OR REPLACE FUNCTION public.lock_audit_log()
 RETURNS TABLE(sequence bigint, hash bytea)
 LANGUAGE plpgsql
AS $function$
begin
  perform pg_advisory_xact_lock(4, 0);
  return query select newest.sequence, newest.hash from audit_log as newest order by newest.sequence desc limit 1;
end
$function$
;

CREATE OR REPLACE FUNCTION public.lock_revocation(p_connections text[], p_agents text[], p_credentials text[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  subject record;
begin
  for subject in
    select distinct class, key from (
      select 1 as class, hashtext(id) as key from unnest(p_connections) as id
      union all select 2, hashtext(id) from unnest(p_agents) as id
      union all select 3, hashtext(id) from unnest(p_credentials) as id
    ) as subjects
    order by class, key
  loop
    perform pg_advisory_xact_lock(subject.class, subject.key);
  end loop;
end
$function$
;

CREATE OR REPLACE FUNCTION public.refuse_audit_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'the audit log is only ever added to';
end
$function$
;
