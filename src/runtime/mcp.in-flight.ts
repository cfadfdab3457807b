import { Injectable } from '@nestjs/common';
import { createHash } from 'node:crypto';
import { McpAbort } from './mcp.abort.js';
import type { McpRequestId } from './mcp.message.js';

/** What a cancellation names. The type of the request id counts: "1" and 1 are two requests. */
export interface McpCallKey {
  agentId: string;
  /** As the client sent it; empty when it sent none. */
  sessionId: string;
  requestId: McpRequestId;
}

interface OpenCall {
  agentId: string;
  /** Absent for calls that only a disconnect can cancel (revision 2026-07-28). */
  key: string | undefined;
  /** On the monotonic clock, milliseconds. A cancellation may overtake its call where nobody else can be meant. */
  cancellableFrom: number;
  controller: AbortController;
}

type CancelListener = (key: McpCallKey) => Promise<void>;

/** How far a cancellation may overtake its call on the way to another replica, milliseconds. */
const OVERTAKING_MS = 1_000;

/** The tool calls this replica is answering over `/mcp`, so that a later POST can cancel one. The menu bounds them. */
@Injectable()
export class McpInFlight {
  private readonly open = new Set<OpenCall>();
  private readonly byKey = new Map<string, Set<OpenCall>>();
  private readonly elsewhere = new Set<CancelListener>();

  get size(): number {
    return this.open.size;
  }

  /** Registers a call. The answer takes it off again. */
  enter(agentId: string, key: McpCallKey | undefined, controller: AbortController): () => void {
    const call: OpenCall = {
      agentId,
      key: key === undefined ? undefined : callKeyOf(key),
      // clients without a session id may use the same request id one after the other
      cancellableFrom: performance.now() - (key?.sessionId === '' ? 0 : OVERTAKING_MS),
      controller,
    };
    this.open.add(call);
    if (call.key !== undefined) this.byKey.set(call.key, (this.byKey.get(call.key) ?? new Set()).add(call));
    return () => this.leave(call);
  }

  /** The agents with a call that a cancellation could name. */
  get cancellableAgents(): string[] {
    return [...new Set([...this.byKey.values()].flatMap((calls) => [...calls].map(({ agentId }) => agentId)))];
  }

  /** Cancels the call here, or tells those who can reach the other replicas. */
  async cancel(key: McpCallKey): Promise<void> {
    if (this.cancelHere(key)) return;
    for (const listener of this.elsewhere) await listener(key);
  }

  /**
   * Cancels the call when it runs on this replica; false when it does not. Clients without a session id may use the
   * same id twice at once: then it is unknown which is meant, and none is cancelled rather than someone else's.
   */
  cancelHere(key: McpCallKey): boolean {
    const calls = this.byKey.get(callKeyOf(key));
    if (calls === undefined) return false;
    cancelOnly([...calls]);
    return true;
  }

  /** Cancels the call of this key if it began before the cancellation, a time of `performance.now()`. */
  cancelBegun(callKey: string, cancelledAt: number): void {
    cancelOnly([...(this.byKey.get(callKey) ?? [])].filter((call) => call.cancellableFrom <= cancelledAt));
  }

  /** Registers who passes cancellations of unknown calls to the other replicas; the answer takes it off again. */
  onUnknownCall(listener: CancelListener): () => void {
    this.elsewhere.add(listener);
    return () => this.elsewhere.delete(listener);
  }

  /** Ends every open call, for a shutdown that cannot wait longer. */
  abortAll(): void {
    for (const { controller } of this.open) controller.abort(new McpAbort('shutdown'));
  }

  private leave(call: OpenCall): void {
    if (!this.open.delete(call)) return;
    if (call.key === undefined) return;
    const calls = this.byKey.get(call.key);
    calls?.delete(call);
    if (calls?.size === 0) this.byKey.delete(call.key);
  }
}

function cancelOnly([call, ...others]: OpenCall[]): void {
  if (others.length === 0) call?.controller.abort(new McpAbort('cancelled'));
}

/** What names a call, in few and storable characters: session and request id may hold whatever a client sends. */
export function callKeyOf({ agentId, sessionId, requestId }: McpCallKey): string {
  return createHash('sha256')
    .update(JSON.stringify([agentId, sessionId, requestId]))
    .digest('base64url');
}
