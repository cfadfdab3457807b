import type { Migration } from '../src/migrator.js';

/**
 * Admission and revocation, the two sides of one lock.
 *
 * `admit_call` takes the shared locks first and reads the facts in a second statement: under READ COMMITTED each
 * statement of a volatile function sees a fresh snapshot, so what it reads was committed before the locks were held,
 * and what revokes it must wait until this transaction ends. Merging the two statements, or dropping the locks, lets
 * revoked calls through; `test/revocation.e2e-spec.ts` shows both. Lock order everywhere: connection (1), agent (2),
 * credential (3).
 */
export const admission: Migration = {
  name: '0006-admission',
  up: `
create function lock_revocation(p_connections text[], p_agents text[], p_credentials text[])
returns void language plpgsql volatile as $$
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
$$;

create function call_facts(p_credential_id text, p_agent_id text, p_provider_id text, p_tool text)
returns table (
  credential_valid boolean, agent_enabled boolean, provider_enabled boolean, tool_listed boolean, granted boolean,
  holds_grant_on_provider boolean, actor_kind text, visibility text, grant_revision integer, definition_hash text, launch_revision integer,
  expires_in_ms double precision
) language sql stable as $$
  select
    coalesce(
      (credential.expires_at is null or credential.expires_at > clock_timestamp())
      and (credential.agent_id = agent.id
        or (credential.kind = 'operator' and credential.scopes && array['write', 'admin'])), false),
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
    extract(epoch from credential.expires_at - clock_timestamp())::double precision * 1000
  from (select 1) as one
  left join credentials as credential on credential.id = p_credential_id
  left join agents as agent on agent.id = p_agent_id
  left join providers as provider on provider.id = p_provider_id
  left join connections as connection on connection.id = provider.id
  left join tools as tool on tool.provider_id = provider.id and tool.name = p_tool
  left join grants as held
    on held.agent_id = agent.id and held.provider_id = provider.id and held.tool_name = p_tool
$$;

create function admit_call(
  p_call_id text, p_instance_id uuid, p_credential_id text, p_agent_id text, p_provider_id text, p_tool text,
  p_provider_asked text, p_started_at timestamptz, p_argument_bytes integer, p_argument_preview text
) returns table (
  admitted boolean, credential_valid boolean, agent_enabled boolean, provider_enabled boolean, tool_listed boolean,
  granted boolean, holds_grant_on_provider boolean, visibility text, grant_revision integer, definition_hash text,
  launch_revision integer, expires_in_ms double precision, waited_ms double precision
) language plpgsql volatile as $$
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
  select * into facts from call_facts(p_credential_id, p_agent_id, p_provider_id, p_tool);

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
$$;
`,
};
