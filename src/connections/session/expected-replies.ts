import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { withoutNulls } from './tidy-message.js';

export type ReplyId = string | number;

/** A transport that lets only expected answers pass. */
export interface ProviderTransport extends Transport {
  /** Answers so far whose id belonged to no open request. */
  readonly strays: number;
  /** What the provider last asked for with 429 or 503, milliseconds. */
  readonly retryAfterMs?: number | undefined;
}

/** Requests given up whose answer may still come late; older ones are forgotten. */
const MAX_GIVEN_UP = 1_000;
/** Results that the protocol client checks strictly; optional members that are null count as absent in them. */
const HANDSHAKE_METHODS = new Set(['initialize', 'server/discover']);
/** A number as a client of JSON-RPC would write it, and nothing that merely converts to one. */
const PLAIN_NUMBER = /^(?:0|[1-9]\d{0,14})$/;

/**
 * The answers a provider owes on one link. One that answers no request reaches nobody: neither by chance another caller,
 * nor a caller whose request was cancelled.
 */
export class ExpectedReplies {
  /** Answers so far whose id belonged to no open request. */
  strays = 0;
  private readonly methods = new Map<ReplyId, string>();
  private readonly givenUp = new Set<ReplyId>();

  /** Ids of the requests that wait for an answer. */
  get waiting(): ReplyId[] {
    return [...this.methods.keys()];
  }

  /** From here on the provider may answer this request. */
  expect(id: ReplyId, method: string): void {
    this.methods.set(id, method);
  }

  /** The request was not sent, or is answered otherwise. Says whether anyone waited. */
  drop(id: ReplyId): boolean {
    return this.methods.delete(id);
  }

  /** The caller left; an answer that still comes is late, not wrong. */
  giveUp(id: unknown): void {
    const known = this.waitingFor(id);
    if (known === undefined) return;
    this.methods.delete(known);
    this.givenUp.add(known);
    const [oldest] = this.givenUp;
    if (this.givenUp.size > MAX_GIVEN_UP && oldest !== undefined) this.givenUp.delete(oldest);
  }

  /** The request an id of an answer belongs to; a string copy of a number is that number. */
  waitingFor(id: unknown): ReplyId | undefined {
    return keysOf(id).find((key) => this.methods.has(key));
  }

  /** What of a message the protocol client may see; undefined for an answer that nobody waits for. */
  receive(message: JSONRPCMessage): JSONRPCMessage | undefined {
    if ('method' in message) return message;
    const id = this.waitingFor(message.id);
    if (id === undefined) {
      if (!keysOf(message.id).some((key) => this.givenUp.delete(key))) this.strays += 1;
      return undefined;
    }
    const method = this.methods.get(id);
    this.methods.delete(id);
    const answer = { ...message, id };
    return method !== undefined && HANDSHAKE_METHODS.has(method) ? withoutNulls(answer) : answer;
  }
}

function keysOf(id: unknown): ReplyId[] {
  if (typeof id === 'number') return [id];
  if (typeof id !== 'string') return [];
  return PLAIN_NUMBER.test(id) ? [id, Number(id)] : [id];
}
