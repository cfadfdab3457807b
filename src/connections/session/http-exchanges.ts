import type { FetchLike, JSONRPCMessage, JSONRPCNotification, JSONRPCRequest } from '@modelcontextprotocol/client';
import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { gateOf, withDispatchGate, withoutDispatchGate } from '../../dispatch-gate.js';
import { AnswersUnderWay } from './answers-under-way.js';

/** How long a cancelled request keeps its exchange while the provider is told, milliseconds. */
const TELL_MS = 1_000;
/** How long the provider may take to accept what answers or tells it; that may have to wait for a socket. */
const ACCEPT_MS = 10_000;
/** Our answers on their way to one provider at once; it asks for little, and each holds a socket. */
const MOST_ANSWERS = { count: 16, bytes: 1_048_576 };
/** How long an answered request's event stream may stay open, milliseconds; the provider should end it at once. */
const LINGER_MS = 1_000;

/** The HTTP exchange of one message. */
class Exchange {
  readonly controller = new AbortController();
  /** Bytes of it may be on their way. */
  begun = false;
  /** The answer comes as an event stream, which may go on behind the answer. */
  streams = false;
  private timer: NodeJS.Timeout | undefined;

  giveUp(): void {
    this.end();
    this.controller.abort();
  }

  giveUpAfter(milliseconds: number): void {
    this.timer ??= setTimeout(() => this.controller.abort(), milliseconds).unref();
  }

  end(): void {
    clearTimeout(this.timer);
  }
}

/** Whose exchange the running code belongs to, however deep in a library it is. */
const current = new AsyncLocalStorage<Exchange>();

/**
 * The requests under way on one HTTP session. Each has a signal of its own, so that its exchange can be given up while
 * the session lives on, and so that nothing piles up on a signal that lives as long as the session.
 */
export class HttpExchanges {
  /** Hand this to the transport in place of the one given. */
  readonly fetch: FetchLike;
  /** By request id; a provider may answer with a text of the number. */
  private readonly unanswered = new Map<number, Exchange>();
  private readonly open = new Set<Exchange>();
  private readonly telling = new Set<Promise<void>>();
  private readonly answers = new AnswersUnderWay(MOST_ANSWERS);

  constructor(fetch: FetchLike) {
    this.fetch = async (url, init) => {
      const exchange = current.getStore();
      if (exchange === undefined) return fetch(url, init);
      const response = await fetch(url, { ...init, signal: exchange.controller.signal });
      exchange.streams = /^\s*text\/event-stream\b/i.test(response.headers.get('content-type') ?? '');
      return response;
    };
  }

  /**
   * Sends a request in an exchange that `leave` gives up. Resolves as `send` does, with whether the answer is still to
   * come on an event stream; `ended` is to be called when that has ended, `answered` when the answer came.
   */
  async request(
    message: JSONRPCRequest,
    leave: AbortSignal | undefined,
    send: (ended: () => void) => Promise<void>,
  ): Promise<boolean> {
    const { method } = message;
    const id = Number(message.id);
    const exchange = new Exchange();
    this.unanswered.set(id, exchange);
    this.open.add(exchange);
    leave?.addEventListener('abort', () => this.forget(id, exchange), { once: true });
    try {
      await current.run(exchange, () => noticingBegin(method, exchange, () => send(() => this.end(exchange))));
    } catch (error) {
      this.forget(id, exchange);
      throw error;
    }
    if (!exchange.streams) this.end(exchange);
    return exchange.streams;
  }

  /** Whether so many answers to the provider are under way that a further one would be dropped. */
  get isBusy(): boolean {
    return this.answers.isFull;
  }

  /** Whether the running code belongs to no request's exchange. */
  get isApart(): boolean {
    return current.getStore() === undefined;
  }

  /** Runs what belongs to no request, whatever message made it run. */
  apart<T>(run: () => T): T {
    return current.exit(run);
  }

  /** Sends an answer to a request of the provider; one too many is dropped, for it could go on asking without end. */
  async answer(message: JSONRPCMessage, send: () => Promise<void>): Promise<void> {
    if (this.answers.isFull) return;
    // the id is the provider's own, and may be long
    await this.answers.send(JSON.stringify(message).length, () => this.accepted(send));
  }

  /** Notes that a request was answered; false when none of this id waits for an answer. */
  answered(id: string | number): boolean {
    const exchange = this.unanswered.get(Number(id));
    if (exchange?.streams && this.open.has(exchange)) exchange.giveUpAfter(LINGER_MS);
    return this.unanswered.delete(Number(id));
  }

  /**
   * Tells the provider by `send` that a request is cancelled, then closes its exchange, which a provider may hold open
   * for ever. A provider that never saw the request is not told.
   */
  async cancel(message: JSONRPCNotification, send: () => Promise<void>): Promise<void> {
    const id = Number(message.params?.['requestId']);
    const exchange = this.unanswered.get(id);
    if (exchange === undefined) return;
    this.unanswered.delete(id);
    if (exchange.begun) {
      const told = this.tell(send);
      this.telling.add(told);
      await told;
      this.telling.delete(told);
    }
    this.forget(id, exchange);
  }

  /** Resolves when every provider that is to hear of a cancellation did, within a second. */
  async told(): Promise<void> {
    await Promise.all(this.telling);
  }

  /** Gives up whatever is left. */
  close(): void {
    this.unanswered.clear();
    for (const exchange of this.open) exchange.giveUp();
    this.open.clear();
  }

  private forget(id: number, exchange: Exchange): void {
    this.unanswered.delete(id);
    this.end(exchange);
    exchange.giveUp();
  }

  private end(exchange: Exchange): void {
    exchange.end();
    this.open.delete(exchange);
  }

  /** Not waited for to its end: the socket it needs may be the one that the cancelled exchange holds. */
  private async tell(send: () => Promise<void>): Promise<void> {
    const accepted = this.accepted(send).catch(() => undefined);
    await Promise.race([accepted, delay(TELL_MS, undefined, { ref: false })]);
  }

  private async accepted(send: () => Promise<void>): Promise<void> {
    const exchange = new Exchange();
    this.open.add(exchange);
    exchange.giveUpAfter(ACCEPT_MS);
    // what a call's stream made us say is not that call
    await current.run(exchange, () => withoutDispatchGate(send)).finally(() => this.end(exchange));
  }
}

/** Runs `send` so that the exchange knows when the first byte of a message behind the gate may leave. */
function noticingBegin(method: string, exchange: Exchange, send: () => Promise<void>): Promise<void> {
  const gate = gateOf(JSON.stringify({ method }));
  if (gate === undefined) {
    exchange.begun = true;
    return send();
  }
  const noticing = {
    guards: (body: string) => gate.guards(body),
    admit: () => gate.admit(),
    mayWrite: () => {
      const may = gate.mayWrite();
      exchange.begun ||= may;
      return may;
    },
    written: () => gate.written(),
    abandoned: () => gate.abandoned(),
  };
  return withDispatchGate(noticing, send);
}
