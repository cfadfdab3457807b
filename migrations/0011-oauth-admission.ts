import type { Migration } from '../src/migrator.js';

/**
 * Tokens of an authorization server have no row in `credentials`: their signature was checked, and here they have
 * standing until `p_token_expires_at`, for the agent they name and for nobody else. A credential that has a row is never
 * judged by that time. Everything else of the admission is as before, and so are callers that give one argument less.
 */
export const oauthAdmission: Migration = {
  name: '0011-oauth-admission',
  up: `
drop function admit_call(text, uuid, text, text, text, text, text, timestamptz, integer, text);
drop function call_facts(text, text, text, text);

create function call_facts(p_credential_id text, p_agent_id text, p_provider_id text, p_tool text,
  p_token_expires_at timestamptz default null)
returns table (
  credential_valid boolean, agent_enabled boolean, provider_enabled boolean, tool_listed boolean, granted boolean,
  holds_grant_on_provider boolean, actor_kind text, visibility text, grant_revision integer, definition_hash text, launch_revision integer,
  expires_in_ms double precision
) language sql stable as $$
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
$$;

create function admit_call(
  p_call_id text, p_instance_id uuid, p_credential_id text, p_agent_id text, p_provider_id text, p_tool text,
  p_provider_asked text, p_started_at timestamptz, p_argument_bytes integer, p_argument_preview text,
  p_token_expires_at timestamptz default null
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
$$;
`,
};
