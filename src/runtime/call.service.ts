import { Injectable } from '@nestjs/common';
import { ProvidersService, type Provider } from '../catalog/providers.service.js';
import { ToolsService } from '../catalog/tools.service.js';
import { ConnectionsService } from '../connections/connections.service.js';
import { SessionError } from '../connections/session/session-error.js';
import { ProblemError } from '../errors.js';
import type { AgentRow } from '../grants/agent.js';
import { AgentsService } from '../grants/agents.service.js';
import { decide } from '../grants/decision.js';
import { maskedError } from '../masked-error.js';
import { Redactor } from '../redactor.js';
import { expiryOf } from '../principal.js';
import { OwnSecrets } from '../own-secrets.js';
import { CallDispatch } from './call-dispatch.js';
import { CallFailure } from './call-failure.js';
import { CallReceipts } from './call-receipts.js';
import { CallRefusals } from './call-refusals.js';
import { readCallRequest, type CallRequest } from './call-request.js';
import { newCall, type CallState, type ProtectedOutcome } from './call-state.js';
import { CallsRepository } from './calls.repository.js';
import type { CallReceipt, MenuError } from './menu.answers.js';
import type { MenuCaller } from './menu.caller.js';
import { MenuPlaces } from './menu.places.js';
import { protectResult, untouched } from './result-protection.js';
import { truncateResult } from './result-truncation.js';
import { toCallFailure } from './session-failure.js';
import { ToolArguments } from './tool-arguments.js';
import { readToolResult, textOf } from './tool-result.js';

/** One `mcp_call`, from the menu to the provider and back. */
@Injectable()
export class CallService {
  constructor(
    private readonly agents: AgentsService,
    private readonly providers: ProvidersService,
    private readonly tools: ToolsService,
    private readonly toolArguments: ToolArguments,
    private readonly connections: ConnectionsService,
    private readonly calls: CallsRepository,
    private readonly refusals: CallRefusals,
    private readonly dispatcher: CallDispatch,
    private readonly receipts: CallReceipts,
    private readonly ownSecrets: OwnSecrets,
    private readonly places: MenuPlaces,
  ) {}

  /** Never throws for what a model should read: that is the receipt's `error`. */
  async call(input: unknown, caller: MenuCaller): Promise<CallReceipt> {
    const state = newCall(input, caller, this.ownSecrets.redactor.with(tokenOf(caller)));
    let giveBack: (() => void) | undefined;
    try {
      giveBack = this.places.take(caller.agentId);
      const outcome = await this.run(input, state);
      if (outcome.result.isError) throw toolFailed(outcome);
      return await this.receipts.finish(state, outcome, undefined);
    } catch (error) {
      const failure = this.asFailure(error, state);
      if (failure !== undefined) return await this.receipts.finish(state, failure.outcome ?? nothing, failure.error);
      // the database away, or a fault of ours: what has begun must not look as if it still ran
      if (state.intended) await this.receipts.finish(state, nothing, interruptedHere(state).error);
      throw error instanceof ProblemError ? error : maskedError(error, state.redactor);
    } finally {
      giveBack?.();
    }
  }

  /** The straight line: resolve, find, decide, check, open, admit and write, protect. */
  private async run(input: unknown, state: CallState): Promise<ProtectedOutcome> {
    const request = await this.read(input, state);
    state.arguments = request.arguments;
    state.argumentBytes = Buffer.byteLength(JSON.stringify(request.arguments));
    const agent = await this.agents.require(state.caller.agentId);
    const provider = await this.resolve(request.provider, agent, state);
    await this.decideEarly(state, provider);
    const tool = await this.tools.find(provider.id, request.tool);
    if (tool === undefined) throw await this.refusals.toolNotFound(state.caller.agentId, provider, request.tool);
    this.toolArguments.check(tool, request.arguments);
    const launch = await this.connections.launchOf(provider.id);
    if (launch === undefined) throw this.refusals.providerGone();
    state.redactor = launch.redactor.with(tokenOf(state.caller));
    const raw = await this.dispatcher.dispatch(state, agent, provider, tool, { ...launch, redactor: state.redactor });
    const { maxResultChars } = launch;
    const { result, leftOut } = readToolResult(raw, maxResultChars);
    const protectedResult = await protectResult(result, state.redactor);
    const cut = truncateResult(protectedResult.result, maxResultChars, leftOut);
    state.resultBytes = Buffer.byteLength(JSON.stringify(result));
    return { ...cut, protection: protectedResult.protection };
  }

  /** A malformed call is answered with the schema to follow: the tool's, where the agent may call it, else the menu's. */
  private async read(input: unknown, { asked, caller }: CallState): Promise<CallRequest> {
    try {
      return readCallRequest(input);
    } catch (error) {
      if (!(error instanceof CallFailure)) throw error;
      const { agentId, principal } = caller;
      const { visibility } = await this.agents.require(agentId);
      const found = await this.providers.resolve(asked.provider, { agentId, visibility });
      if (found.kind !== 'found') throw error;
      const facts = await this.calls.facts(
        principal.credentialId,
        agentId,
        found.provider.id,
        asked.tool,
        expiryOf(principal),
      );
      const tool = decide(facts).allow ? await this.tools.find(found.provider.id, asked.tool) : undefined;
      if (tool !== undefined) error.error.inputSchema = this.toolArguments.shownSchema(tool);
      throw error;
    }
  }

  private async resolve(nameOrId: string, { id, visibility }: AgentRow, state: CallState): Promise<Provider> {
    const found = await this.providers.resolve(nameOrId, { agentId: id, visibility });
    if (found.kind === 'ambiguous') throw this.refusals.ambiguous(found.candidates);
    if (found.kind === 'none') throw await this.refusals.providerNotFound(id, nameOrId);
    state.provider = found.provider;
    return found.provider;
  }

  /** Refuses early, before anything is started; admission decides for good. */
  private async decideEarly(state: CallState, provider: Provider): Promise<void> {
    const { caller, asked } = state;
    const facts = await this.calls.facts(
      caller.principal.credentialId,
      caller.agentId,
      provider.id,
      asked.tool,
      expiryOf(caller.principal),
    );
    const refusal = await this.refusals.of(facts, caller, provider, asked);
    if (refusal === undefined) return;
    // the answer does not even name a provider that the agent may not know of
    if (refusal.hidesProvider) delete state.provider;
    throw refusal.error;
  }

  /** Errors meant for the caller become failures; undefined for anything else. */
  private asFailure(error: unknown, state: CallState): { error: MenuError; outcome?: ProtectedOutcome } | undefined {
    if (error instanceof ToolFailed) return { error: error.failure.error, outcome: error.outcome };
    if (error instanceof CallFailure) return { error: error.error };
    if (error instanceof SessionError) {
      const mask = (text: string): string => state.redactor.text(text).text;
      return { error: toCallFailure(error, state.provider?.name ?? state.asked.provider, mask).error };
    }
    return undefined;
  }
}

function tokenOf({ principal }: MenuCaller): Redactor {
  return principal.redactor ?? Redactor.empty;
}

const nothing: ProtectedOutcome = { result: { isError: false, content: [] }, protection: untouched };

function interruptedHere({ admitted }: CallState): CallFailure {
  const sent = admitted ? 'maybe' : 'no';
  return new CallFailure('mcp_call_interrupted', 'The call broke off at this server.', { sent });
}

/** The provider ran the tool and says that it failed. */
class ToolFailed extends Error {
  constructor(
    readonly outcome: ProtectedOutcome,
    readonly failure: CallFailure,
  ) {
    super(failure.message);
  }
}

function toolFailed(outcome: ProtectedOutcome): ToolFailed {
  const text = textOf(outcome.result.content).slice(0, 500);
  return new ToolFailed(
    outcome,
    new CallFailure('mcp_tool_failed', text === '' ? 'The tool failed without saying why.' : text, {
      sent: 'yes',
      hint: 'Read what the tool says, correct the arguments, and call again only if that can help.',
    }),
  );
}
