import { Inject, Injectable } from '@nestjs/common';
import type { Settings } from '../config.js';
import { Instance } from '../instance.js';
import { mapJsonStrings } from '../json-strings.js';
import { Logger } from '../logger.js';
import { SETTINGS } from '../settings.token.js';
import { CallMetrics } from './call-metrics.js';
import { CallRecorder } from './call-recorder.js';
import type { CallState, ProtectedOutcome } from './call-state.js';
import type { CallReceipt, MenuError } from './menu.answers.js';
import { previewOf } from './preview.js';
import type { ToolResult } from './tool-result.js';

/** Makes the receipt of a call: the one that is answered, the row that is kept, and the line in the log. */
@Injectable()
export class CallReceipts {
  constructor(
    private readonly recorder: CallRecorder,
    private readonly metrics: CallMetrics,
    private readonly instance: Instance,
    private readonly logger: Logger,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  async finish(state: CallState, outcome: ProtectedOutcome, error: MenuError | undefined): Promise<CallReceipt> {
    const { caller, provider, asked } = state;
    // callers put anything into the two names, and others read what is kept
    const masked = (text: string): string => state.redactor.text(text).text;
    const tool = masked(asked.tool);
    const preview = this.settings.WARREN_PREVIEW_CHARS;
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
    this.metrics.record(error?.code, durationMs);
    await this.recorder.record({
      id: state.callId,
      instance_id: this.instance.id,
      actor_kind: caller.principal.kind,
      credential_id: caller.principal.credentialId,
      agent_id: caller.agentId,
      provider_id: provider?.id ?? null,
      provider_asked: masked(asked.provider),
      tool,
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
      argument_preview: previewOf(state.arguments, state.redactor, preview),
      result_preview: previewOf(headOf(outcome.result, preview), state.redactor, preview),
    });
    this.logger.info(
      {
        requestId: caller.requestId,
        callId: state.callId,
        agentId: caller.agentId,
        providerId: provider?.id,
        tool,
        ok: receipt.ok,
        code: error?.code,
        durationMs,
      },
      'call',
    );
    return receipt;
  }
}

/**
 * As much of a result as its first characters can come from: no content block has none, and no text gives more. The
 * secrets are masked already, so that none is cut in two.
 */
function headOf(result: ToolResult, characters: number): unknown {
  const head = { ...result, content: result.content.slice(0, characters) };
  return mapJsonStrings(head, (text) => text.slice(0, characters));
}
