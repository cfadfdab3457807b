import { Inject, Injectable } from '@nestjs/common';
import { parameterHeaders } from '../catalog/parameter-headers.js';
import type { Provider } from '../catalog/providers.service.js';
import type { StoredTool } from '../catalog/stored-tool.js';
import type { Settings } from '../config.js';
import type { ConnectionLaunch } from '../connections/connection.launch.js';
import { SessionError } from '../connections/session/session-error.js';
import { SessionListeners } from '../connections/session/session-listeners.js';
import { SessionManager } from '../connections/session/session-manager.js';
import type { AgentRow } from '../grants/agent.js';
import { Instance } from '../instance.js';
import { expiryOf } from '../principal.js';
import { SETTINGS } from '../settings.token.js';
import { Admission } from './admission.js';
import { boundedProgress } from './call-progress.js';
import { CallRefusals } from './call-refusals.js';
import type { CallState } from './call-state.js';
import { CallIntents } from './call-intents.js';
import { CallsRepository, type AdmissionRequest } from './calls.repository.js';
import { InFlightCalls } from './in-flight-calls.js';
import { previewOf } from './preview.js';
import { isHeaderMismatch } from './session-failure.js';

/** The part of a call's path that touches the provider. */
@Injectable()
export class CallDispatch {
  constructor(
    private readonly sessions: SessionManager,
    private readonly calls: CallsRepository,
    private readonly intents: CallIntents,
    private readonly refusals: CallRefusals,
    private readonly inFlight: InFlightCalls,
    private readonly instance: Instance,
    private readonly listeners: SessionListeners,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /**
   * Writes the call down, opens the session, then admits and writes to it; a call that may have been written is never
   * written again.
   */
  async dispatch(
    state: CallState,
    agent: AgentRow,
    provider: Provider,
    tool: StoredTool,
    launch: ConnectionLaunch,
  ): Promise<unknown> {
    const { caller, callId } = state;
    const controller = new AbortController();
    const leave = (): void => controller.abort(new SessionError('cancelled', 'The caller cancelled the call.'));
    if (caller.signal.aborted) leave();
    caller.signal.addEventListener('abort', leave, { once: true });
    const { credentialId } = caller.principal;
    const tokenExpiresAt = expiryOf(caller.principal);
    this.inFlight.add({
      callId,
      credentialId,
      tokenExpiresAt,
      agentId: caller.agentId,
      providerId: provider.id,
      tool: state.asked.tool,
      controller,
    });
    const request: AdmissionRequest = {
      callId,
      instanceId: this.instance.id,
      credentialId,
      tokenExpiresAt,
      agentId: caller.agentId,
      providerId: provider.id,
      providerAsked: state.asked.provider,
      tool: state.asked.tool,
      startedAt: state.startedAt,
      argumentBytes: state.argumentBytes,
      argumentPreview: previewOf(state.arguments, launch.redactor, this.settings.WARREN_PREVIEW_CHARS),
    };
    state.intended = true;
    const intended = this.intents.write({ ...request, actorKind: caller.principal.kind });
    // who asks for admission is told; until then nobody listens
    intended.catch(() => undefined);
    const admission = new Admission(
      this.calls,
      intended,
      request,
      (facts) => this.refusals.atAdmission(facts, caller.principal, provider, state.asked.tool),
      launch.launchRevision,
    );
    const onProgress =
      caller.onProgress === undefined ? undefined : boundedProgress(caller.onProgress, launch.redactor);
    try {
      return await this.sessions.use(
        launch,
        { id: agent.id, createdAt: agent.created_at },
        { signal: controller.signal, timeoutMs: launch.callTimeoutMs },
        (session, signal) =>
          session.callTool(
            { name: state.asked.tool, arguments: state.arguments },
            {
              signal,
              gate: admission,
              ...(session.mirrorsParameters ? { headers: parameterHeaders(tool.inputSchema, state.arguments) } : {}),
              ...(onProgress === undefined ? {} : { onProgress }),
            },
          ),
      );
    } catch (error) {
      // it wants other headers than its stored definition tells, so the catalog is out of date
      if (error instanceof SessionError && isHeaderMismatch(error)) this.listeners.onToolsChanged(launch.id);
      throw error;
    } finally {
      state.admitted = admission.facts?.admitted === true;
      caller.signal.removeEventListener('abort', leave);
      this.inFlight.remove(callId);
    }
  }
}
