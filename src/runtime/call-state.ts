import { randomBytes } from 'node:crypto';
import type { Provider } from '../catalog/providers.service.js';
import type { CallProtection } from '../database.schema.js';
import type { Redactor } from '../redactor.js';
import { askedFor } from './call-request.js';
import type { CallReceipt } from './menu.answers.js';
import type { MenuCaller } from './menu.caller.js';
import type { ToolResult } from './tool-result.js';

/** What is known of a call while it walks its path; the receipt is made from it. */
export interface CallState {
  callId: string;
  startedAt: Date;
  /** On the monotonic clock, milliseconds. */
  began: number;
  caller: MenuCaller;
  asked: { provider: string; tool: string };
  provider?: Provider;
  arguments: Record<string, unknown>;
  argumentBytes: number;
  /** It has a row, or will have one, that must not stay as if it ran. */
  intended: boolean;
  /** Its row says that it was admitted. */
  admitted: boolean;
  redactor: Redactor;
  resultBytes?: number;
}

/** What a provider answered, after protection. */
export interface ProtectedOutcome {
  result: ToolResult;
  protection: CallProtection;
  truncated?: CallReceipt['truncated'];
}

/** A call that has just begun. */
export function newCall(input: unknown, caller: MenuCaller, redactor: Redactor): CallState {
  return {
    callId: `call_${randomBytes(15).toString('base64url')}`,
    startedAt: new Date(),
    began: performance.now(),
    caller,
    asked: askedFor(input),
    arguments: {},
    argumentBytes: 0,
    intended: false,
    admitted: false,
    redactor,
  };
}
