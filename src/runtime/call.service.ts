import { Inject, Injectable } from '@nestjs/common';
import { randomBytes } from 'node:crypto';
import { ProvidersService, type Provider } from '../catalog/providers.service.js';
import { ToolsService } from '../catalog/tools.service.js';
import type { Settings } from '../config.js';
import { ConnectionsService } from '../connections/connections.service.js';
import type { ConnectionLaunch } from '../connections/connection.launch.js';
import { SessionError } from '../connections/session/session-error.js';
import { SessionManager } from '../connections/session/session-manager.js';
import type { CallProtection } from '../database.schema.js';
import { AgentsService } from '../grants/agents.service.js';
import { decide } from '../grants/decision.js';
import { Instance } from '../instance.js';
import { Logger } from '../logger.js';
import type { Redactor } from '../redactor.js';
import { OwnSecrets } from '../own-secrets.js';
import { SETTINGS } from '../settings.token.js';
import { Admission } from './admission.js';
import { CallFailure } from './call-failure.js';
import { CallRecorder } from './call-recorder.js';
import { CallRefusals } from './call-refusals.js';
import { askedFor, readCallRequest, type CallRequest } from './call-request.js';
import { CallsRepository } from './calls.repository.js';
import { InFlightCalls } from './in-flight-calls.js';
import type { CallReceipt, MenuError } from './menu.answers.js';
import type { MenuCaller } from './menu.caller.js';
import { previewOf } from './preview.js';
import { protectResult, untouched } from './result-protection.js';
import { truncateResult } from './result-truncation.js';
import { toCallFailure } from './session-failure.js';
import { ToolArguments } from './tool-arguments.js';
import { readToolResult, textOf, type ToolResult } from './tool-result.js';

/** What is known of a call while it walks its path; the receipt is made from it. */
interface CallState {
  callId: string;
  startedAt: Date;
  began: number;
  caller: MenuCaller;
  asked: { provider: string; tool: string };
  provider?: Provider;
  arguments: Record<string, unknown>;
  argumentBytes: number;
  redactor: Redactor;
  resultBytes?: number;
}

interface Outcome {
  result: ToolResult;
  protection: CallProtection;
  truncated?: CallReceipt['truncated'];
}

/** One `mcp_call`, from the menu to the provider and back. */
@Injectable()
export class CallService {
  constructor(
    private readonly agents: AgentsService,
    private readonly providers: ProvidersService,
    private readonly tools: ToolsService,
    private readonly toolArguments: ToolArguments,
    private readonly connections: ConnectionsService,
    private readonly sessions: SessionManager,
    private readonly calls: CallsRepository,
    private readonly refusals: CallRefusals,
    private readonly inFlight: InFlightCalls,
    private readonly recorder: CallRecorder,
    private readonly instance: Instance,
    private readonly ownSecrets: OwnSecrets,
    private readonly logger: Logger,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /** Never throws for what a model should read: that is the receipt's `error`. */
  async call(input: unknown, caller: MenuCaller): Promise<CallReceipt> {
    const state: CallState = {
      callId: `call_${randomBytes(15).toString('base64url')}`,
      startedAt: new Date(),
      began: performance.now(),
      caller,
      asked: askedFor(input),
      arguments: {},
      argumentBytes: 0,
      redactor: this.ownSecrets.redactor,
    };
    try {
      const outcome = await this.run(input, state);
      if (outcome.result.isError) throw toolFailed(outcome);
      return await this.finish(state, outcome, undefined);
    } catch (error) {
      const failure = this.asFailure(error, state);
      return this.finish(state, failure.outcome ?? { result: noResult, protection: untouched }, failure.error);
    }
  }

  /** The straight line: resolve, find, decide, check, open, admit and write, protect. */
  private async run(input: unknown, state: CallState): Promise<Outcome> {
    const request = await this.read(input, state);
    state.arguments = request.arguments;
    state.argumentBytes = Buffer.byteLength(JSON.stringify(request.arguments));
    const provider = await this.resolve(request.provider, state);
    await this.decideEarly(state, provider);
    const tool = await this.tools.find(provider.id, request.tool);
    if (tool === undefined) throw await this.refusals.toolNotFound(state.caller.agentId, provider, request.tool);
    this.toolArguments.check(tool, request.arguments);
    const launch = await this.connections.launchOf(provider.id);
    if (launch === undefined) throw this.refusals.providerGone();
    state.redactor = launch.redactor;
    const raw = await this.dispatch(state, provider, launch);
    const protectedResult = protectResult(readToolResult(raw), launch.redactor);
    const cut = truncateResult(protectedResult.result, launch.maxResultChars);
    state.resultBytes = Buffer.byteLength(JSON.stringify(raw) ?? '');
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
      const facts = await this.calls.facts(principal.credentialId, agentId, found.provider.id, asked.tool);
      const tool = decide(facts).allow ? await this.tools.find(found.provider.id, asked.tool) : undefined;
      if (tool !== undefined) error.error.inputSchema = this.toolArguments.shownSchema(tool);
      throw error;
    }
  }

  private async resolve(nameOrId: string, state: CallState): Promise<Provider> {
    const { agentId } = state.caller;
    const { visibility } = await this.agents.require(agentId);
    const found = await this.providers.resolve(nameOrId, { agentId, visibility });
    if (found.kind === 'ambiguous') throw this.refusals.ambiguous(found.candidates);
    if (found.kind === 'none') throw await this.refusals.providerNotFound(agentId, nameOrId);
    state.provider = found.provider;
    return found.provider;
  }

  /** Refuses early, before anything is started; admission decides for good. */
  private async decideEarly(state: CallState, provider: Provider): Promise<void> {
    const { caller, asked } = state;
    const facts = await this.calls.facts(caller.principal.credentialId, caller.agentId, provider.id, asked.tool);
    const refusal = await this.refusals.of(facts, caller.agentId, provider, asked);
    if (refusal === undefined) return;
    // the answer does not even name a provider that the agent may not know of
    if (refusal.hidesProvider) delete state.provider;
    throw refusal.error;
  }

  /** Opens the session, then admits and writes; a call that may have been written is never written again. */
  private async dispatch(state: CallState, provider: Provider, launch: ConnectionLaunch): Promise<unknown> {
    const { caller, callId } = state;
    const controller = new AbortController();
    const leave = (): void => controller.abort(new SessionError('cancelled', 'The caller cancelled the call.'));
    if (caller.signal.aborted) leave();
    caller.signal.addEventListener('abort', leave, { once: true });
    const { credentialId } = caller.principal;
    this.inFlight.add({
      callId,
      credentialId,
      agentId: caller.agentId,
      providerId: provider.id,
      tool: state.asked.tool,
      controller,
    });
    const admission = new Admission(
      this.calls,
      {
        callId,
        instanceId: this.instance.id,
        credentialId,
        agentId: caller.agentId,
        providerId: provider.id,
        providerAsked: state.asked.provider,
        tool: state.asked.tool,
        startedAt: state.startedAt,
        argumentBytes: state.argumentBytes,
        argumentPreview: this.preview(state.arguments, launch.redactor),
      },
      (facts) => this.refusals.atAdmission(facts, provider, state.asked.tool),
      launch.launchRevision,
    );
    try {
      return await this.sessions.use(
        launch,
        caller.agentId,
        { signal: controller.signal, timeoutMs: launch.callTimeoutMs },
        (session, signal) =>
          session.callTool(
            { name: state.asked.tool, arguments: state.arguments },
            { signal, gate: admission, ...(caller.onProgress === undefined ? {} : { onProgress: caller.onProgress }) },
          ),
      );
    } finally {
      caller.signal.removeEventListener('abort', leave);
      this.inFlight.remove(callId);
    }
  }

  /** Errors meant for the caller become failures; anything else (the database away, a bug) goes up. */
  private asFailure(error: unknown, state: CallState): { error: MenuError; outcome?: Outcome } {
    if (error instanceof ToolFailed) return { error: error.failure.error, outcome: error.outcome };
    if (error instanceof CallFailure) return { error: error.error };
    if (error instanceof SessionError) {
      const mask = (text: string): string => state.redactor.text(text).text;
      return { error: toCallFailure(error, state.provider?.name ?? state.asked.provider, mask).error };
    }
    throw error;
  }

  private async finish(state: CallState, outcome: Outcome, error: MenuError | undefined): Promise<CallReceipt> {
    const { caller, provider, asked } = state;
    const durationMs = Math.round((performance.now() - state.began) * 1_000) / 1_000;
    const receipt: CallReceipt = {
      ok: error === undefined,
      callId: state.callId,
      provider: provider === undefined ? asked.provider : { id: provider.id, name: provider.name },
      tool: asked.tool,
      isError: outcome.result.isError,
      content: outcome.result.content,
      ...(outcome.result.structuredContent === undefined
        ? {}
        : { structuredContent: outcome.result.structuredContent }),
      ...(error === undefined ? {} : { error }),
      protection: outcome.protection,
      ...(outcome.truncated === undefined ? {} : { truncated: outcome.truncated }),
      durationMs,
    };
    await this.recorder.record({
      id: state.callId,
      instance_id: this.instance.id,
      actor_kind: caller.principal.kind,
      credential_id: caller.principal.credentialId,
      agent_id: caller.agentId,
      provider_id: provider?.id ?? null,
      provider_asked: asked.provider,
      tool: asked.tool,
      started_at: state.startedAt.toISOString(),
      finished_at: new Date().toISOString(),
      ok: receipt.ok,
      code: error?.code ?? null,
      reason: error?.reason ?? null,
      sent: error?.sent ?? 'yes',
      duration_ms: durationMs,
      argument_bytes: state.argumentBytes,
      result_bytes: state.resultBytes ?? null,
      protection: outcome.protection,
      truncated: outcome.truncated !== undefined,
      argument_preview: this.preview(state.arguments, state.redactor),
      result_preview: this.preview(outcome.result, state.redactor),
    });
    this.logger.info(
      {
        requestId: caller.requestId,
        callId: state.callId,
        agentId: caller.agentId,
        providerId: provider?.id,
        tool: asked.tool,
        ok: receipt.ok,
        code: error?.code,
        durationMs,
      },
      'call',
    );
    return receipt;
  }

  private preview(value: unknown, redactor: Redactor): string | null {
    return previewOf(value, redactor, this.settings.WARREN_PREVIEW_CHARS);
  }
}

const noResult: ToolResult = { isError: false, content: [] };

/** The provider ran the tool and says that it failed. */
class ToolFailed extends Error {
  constructor(
    readonly outcome: Outcome,
    readonly failure: CallFailure,
  ) {
    super(failure.message);
  }
}

function toolFailed(outcome: Outcome): ToolFailed {
  const text = textOf(outcome.result.content).slice(0, 500);
  return new ToolFailed(
    outcome,
    new CallFailure('mcp_tool_failed', text === '' ? 'The tool failed without saying why.' : text, {
      sent: 'yes',
      hint: 'Read what the tool says, correct the arguments, and call again only if that can help.',
    }),
  );
}
