import { Injectable } from '@nestjs/common';
import type { Provider } from '../catalog/providers.service.js';
import { unauthenticated } from '../access.guard.js';
import { ProblemError } from '../errors.js';
import { decide, type CallFacts, type Decision } from '../grants/decision.js';
import { GrantsService } from '../grants/grants.service.js';
import type { Principal } from '../principal.js';
import { CallFailure } from './call-failure.js';
import type { MenuCaller } from './menu.caller.js';
import { nearestNames } from './nearest-names.js';

const ASK_AGAIN = 'Use mcp_capabilities with a plain-language query to find the right provider and tool.';
const COPY_SUGGESTION = (field: 'provider' | 'tool'): string =>
  `Copy one of the suggestions exactly as ${field}, if it is what you want.`;
const ASK_OPERATOR = 'Do not try again; tell the user that an operator has to grant this tool.';

/** Puts every refusal into words a model can act on, without telling an agent of what it may not see. */
@Injectable()
export class CallRefusals {
  constructor(private readonly grants: GrantsService) {}

  /** The refusal these facts ask for, or undefined when they allow the call. */
  async of(
    facts: CallFacts,
    { agentId, principal }: MenuCaller,
    provider: Provider,
    asked: { provider: string; tool: string },
  ): Promise<{ error: Error; hidesProvider: boolean } | undefined> {
    const decision = decide(facts);
    if (decision.allow) return undefined;
    if (decision.code === 'unauthenticated') return { error: noStanding(facts, principal), hidesProvider: false };
    if (decision.code === 'mcp_provider_not_available' && !decision.mayTellDisabled) {
      return { error: await this.providerNotFound(agentId, asked.provider), hidesProvider: true };
    }
    const error =
      decision.code === 'mcp_tool_not_found'
        ? await this.toolNotFound(agentId, provider, asked.tool)
        : refusal(decision, provider, asked.tool);
    return { error, hidesProvider: false };
  }

  /** At admission: permission went between the early look and the write, or the session is out of date. */
  atAdmission(facts: CallFacts, principal: Principal, provider: Provider, tool: string): Error {
    const decision = decide(facts);
    if (!decision.allow && decision.code === 'unauthenticated') return noStanding(facts, principal);
    if (!decision.allow) return refusal(decision, provider, tool);
    return new CallFailure(
      'mcp_call_interrupted',
      `The settings of ${provider.name} changed while the call was prepared.`,
      {
        retryable: true,
        hint: 'The call was not sent; repeat it.',
      },
    );
  }

  async providerNotFound(agentId: string, asked: string): Promise<CallFailure> {
    const granted = await this.grants.grantedTools(agentId);
    const suggestions = nearestNames(asked, new Set(granted.map(({ providerId }) => providerId)));
    return new CallFailure('mcp_provider_not_available', 'There is no provider of that name that you can use.', {
      ...(suggestions.length > 0 ? { suggestions } : {}),
      hint: suggestions.length > 0 ? COPY_SUGGESTION('provider') : ASK_AGAIN,
    });
  }

  /** Only an agent that holds a grant there hears that the provider is switched off. */
  async providerDisabled(agentId: string, provider: Provider, asked: string): Promise<CallFailure> {
    if (!(await this.grants.holdsGrantOn(agentId, provider.id))) return this.providerNotFound(agentId, asked);
    return disabled(provider);
  }

  providerGone(): CallFailure {
    return new CallFailure('mcp_provider_not_available', 'The provider is no longer there.', { hint: ASK_AGAIN });
  }

  ambiguous(candidates: readonly string[]): CallFailure {
    return new CallFailure('mcp_provider_ambiguous', 'Several providers go by that name.', {
      candidates: [...candidates],
      hint: 'Give one of the candidates as provider.',
    });
  }

  async toolNotFound(agentId: string, provider: Provider, asked: string): Promise<CallFailure> {
    const granted = await this.grants.grantedTools(agentId);
    const here = granted.filter(({ providerId, present }) => providerId === provider.id && present);
    const suggestions = nearestNames(asked, new Set(here.map(({ toolName }) => toolName)));
    return new CallFailure('mcp_tool_not_found', `${provider.name} has no tool of exactly that name.`, {
      ...(suggestions.length > 0 ? { suggestions } : {}),
      hint: suggestions.length > 0 ? COPY_SUGGESTION('tool') : ASK_AGAIN,
    });
  }
}

/** An operator may know what an agent's own token is never told: that the agent is disabled. */
function noStanding(facts: CallFacts, principal: Principal): ProblemError {
  return principal.kind === 'operator' && facts.credentialValid ? agentDisabled() : unauthenticated();
}

export function agentDisabled(): ProblemError {
  return new ProblemError('agent_disabled', 'The agent is disabled; nobody can act as it until it is enabled.');
}

type Refusal = Exclude<Decision, { allow: true } | { code: 'unauthenticated' }>;

function refusal(decision: Refusal, provider: Provider, tool: string): CallFailure {
  switch (decision.code) {
    case 'mcp_provider_not_available':
      return decision.mayTellDisabled
        ? disabled(provider)
        : new CallFailure(decision.code, 'There is no provider of that name that you can use.', { hint: ASK_AGAIN });
    case 'mcp_tool_not_found':
      return new CallFailure(decision.code, `${provider.name} has no tool of exactly that name.`, { hint: ASK_AGAIN });
    case 'mcp_tool_not_granted':
      return new CallFailure(decision.code, `You may not use ${tool} of ${provider.name}.`, { hint: ASK_OPERATOR });
  }
}

function disabled(provider: Provider): CallFailure {
  return new CallFailure('mcp_provider_not_available', `${provider.name} is disabled.`, {
    hint: 'Tell the user that an operator has switched this provider off.',
  });
}
