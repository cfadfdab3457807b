import {
  serializeMessage,
  type JSONRPCMessage,
  type JSONRPCNotification,
  type JSONRPCRequest,
  type Transport,
} from '@modelcontextprotocol/client';
import { setTimeout as delay } from 'node:timers/promises';
import { gateOf, type DispatchGate } from '../../dispatch-gate.js';
import type { Subprocess } from '../../subprocess.js';
import { AnswersUnderWay } from './answers-under-way.js';
import { DispatchTurns } from './dispatch-turns.js';
import { ExpectedReplies, type ProviderTransport, type ReplyId } from './expected-replies.js';
import { MessageLines } from './message-lines.js';
import { localAnswer, type LocalErrorData } from './local-error.js';
import { PipeWrites } from './pipe-writes.js';
import { SessionError } from './session-error.js';

/** A write that lost its admission is tried this often before the call fails. */
const ADMISSION_ATTEMPTS = 3;
/** So many bytes are taken whole or not at all: by a pipe (POSIX, PIPE_BUF), and in one piece by a local socket of Linux. */
const WHOLE_BYTES = 4_096;
/** How often a call that found no room in the pipe is looked at, and how long one waits for others, milliseconds. */
const ROOM_POLL_MS = 50;
/** While so many of our answers wait for the provider to read them, no more of its requests are read. */
const MOST_ANSWERS = { count: 100, bytes: 1_048_576 };
/** What a process wrote before it exited may still be in the pipe; a grandchild may hold the pipe open for ever. */
const LAST_OUTPUT_MS = 250;
/** How long a process whose pipe closed may take to exit by itself, milliseconds. */
const EXIT_GRACE_MS = 500;

interface BegunWrite {
  /** Resolves when all of the message is in the pipe. */
  complete: Promise<void>;
}

/**
 * MCP over a child's standard input and output. The child is launched and stopped by its owner; closing the transport
 * starts the stop ladder without waiting for it.
 */
export class StdioTransport implements ProviderTransport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  /** Lines of output that were no messages. */
  noise = 0;
  /** Names this transport as stdio to the SDK, with `pid`. */
  readonly stderr = null;
  private readonly lines: MessageLines;
  private readonly replies = new ExpectedReplies();
  private readonly writes: PipeWrites;
  private readonly answers: AnswersUnderWay;
  /** Calls whose end is not in the pipe with their beginning; true once nobody waits for them any more. */
  private readonly halfway = new Map<ReplyId, boolean>();
  private readonly turns = new DispatchTurns();
  private closed = false;

  constructor(
    private readonly child: Subprocess,
    maximumMessageBytes: number,
  ) {
    this.lines = new MessageLines(maximumMessageBytes);
    this.writes = new PipeWrites(child.stdin);
    this.answers = new AnswersUnderWay(MOST_ANSWERS, () => this.child.stdout.resume());
  }

  get pid(): number {
    return this.child.pid;
  }

  get strays(): number {
    return this.replies.strays;
  }

  /** Nothing gets through any more: a pipe is closed, or the provider stopped reading within a call that was given up. */
  get isStuck(): boolean {
    const isPassing = this.child.stdin.writable && !this.child.stdout.readableEnded;
    return !isPassing || [...this.halfway.values()].includes(true);
  }

  async start(): Promise<void> {
    this.child.stdout.on('data', (chunk: Buffer) => this.receive(chunk));
    const outputEnded = new Promise<void>((resolve) => {
      this.child.stdout.once('close', resolve);
    });
    // a process that closes one of them and lives on is of no more use
    this.child.stdin.once('close', () => void this.endUnlessItExits());
    this.child.stdout.once('end', () => void this.endUnlessItExits());
    void this.child.exited.then(async () => {
      await Promise.race([outputEnded, delay(LAST_OUTPUT_MS)]);
      this.finish();
    });
  }

  /** Resolves when the message is in the pipe. A guarded message waits for its turn, then passes its gate. */
  async send(message: JSONRPCMessage): Promise<void> {
    const line = serializeMessage(message);
    if (!('method' in message)) return this.answer(line);
    if (!('id' in message)) return this.notify(message);
    const gate = gateOf(line);
    if (gate === undefined) return this.ask(message, () => this.writes.write(line));
    const bytes = Buffer.from(line);
    try {
      const { complete } = await this.turns.run(message.id, (signal, begun) =>
        this.admitAndBegin(gate, signal, () => {
          begun();
          if (bytes.length > WHOLE_BYTES) this.halfway.set(message.id, false);
          return this.ask(message, () => this.writeAdmitted(bytes, gate));
        }),
      );
      await complete;
    } finally {
      this.halfway.delete(message.id);
    }
  }

  async close(): Promise<void> {
    void this.child.stop();
    this.finish();
  }

  /** A provider that asks without reading our answers is not listened to until it does. */
  private async answer(line: string): Promise<void> {
    const sent = this.answers.send(line.length, () => this.writes.write(line));
    if (this.answers.isFull) this.child.stdout.pause();
    return sent;
  }

  /** The cancellation of a call that has not begun takes it out of the line; the provider never hears of either. */
  private async notify(message: JSONRPCNotification): Promise<void> {
    if (message.method === 'notifications/cancelled') {
      const id = message.params?.['requestId'] as ReplyId;
      this.replies.giveUp(id);
      if (this.halfway.has(id)) this.halfway.set(id, true);
      if (this.turns.leave(id, new SessionError('cancelled', 'The call was cancelled.', { sent: 'no' }))) return;
    }
    return this.writes.write(serializeMessage(message));
  }

  /** From here on the provider may answer this request. */
  private async ask<T>({ id, method }: JSONRPCRequest, write: () => Promise<T>): Promise<T> {
    this.replies.expect(id, method);
    try {
      return await write();
    } catch (error) {
      this.replies.drop(id);
      throw error;
    }
  }

  /**
   * An admission holds locks and a database connection, so what is slow comes before it: earlier messages get into the
   * pipe first, however long the provider takes to read them.
   */
  private async admitAndBegin(
    gate: DispatchGate,
    signal: AbortSignal,
    begin: () => Promise<BegunWrite>,
  ): Promise<BegunWrite> {
    for (let attempt = 0; attempt < ADMISSION_ATTEMPTS; attempt += 1) {
      await this.writes.taken(signal);
      signal.throwIfAborted();
      await gate.admit();
      // something small may have come in between; an admitted message begins to be written at once
      if (!this.writes.areTaken) await this.writes.taken(AbortSignal.timeout(ROOM_POLL_MS));
      if (this.writes.areTaken && gate.mayWrite()) return begin();
      gate.abandoned();
    }
    throw new SessionError('busy', 'The call could not be written while its admission held.', { sent: 'no' });
  }

  /**
   * Begins to write in this same turn. A provider that does not read leaves no room in the pipe, and what waits for room
   * would go out whenever it reads again, admitted or not; only ending the session takes it back. Resolves when the
   * message has begun.
   */
  private async writeAdmitted(bytes: Buffer, gate: DispatchGate): Promise<BegunWrite> {
    if (!this.writes.canBegin) {
      gate.abandoned();
      throw new SessionError('interrupted', 'The session broke before the call was written.', { sent: 'no' });
    }
    const begun = this.writes.write(bytes.subarray(0, WHOLE_BYTES));
    const complete = bytes.length > WHOLE_BYTES ? this.writes.write(bytes.subarray(WHOLE_BYTES)) : begun;
    // where the beginning fails, nobody waits for the rest
    complete.catch(() => undefined);
    let takenBack = false;
    const watch = setInterval(() => {
      if (gate.mayWrite()) return;
      clearInterval(watch);
      takenBack = true;
      this.writes.destroy();
      void this.close();
    }, ROOM_POLL_MS);
    // the gate is free as soon as the call has begun; the rest may wait for the provider to read
    try {
      await begun;
    } catch (error) {
      if (!takenBack) throw error;
      throw new SessionError('interrupted', 'The provider did not read its input; the session was ended.', {
        sent: 'no',
      });
    } finally {
      clearInterval(watch);
      gate.written();
    }
    return { complete };
  }

  private receive(chunk: Buffer): void {
    for (const line of this.lines.push(chunk)) {
      switch (line.kind) {
        case 'message':
          this.hand(line.message);
          break;
        case 'noise':
          this.noise += 1;
          break;
        case 'malformed':
          this.fail([line.id], 'malformed');
          break;
        case 'oversize':
          this.fail(this.answeredBy(line.id), 'too_large');
          break;
      }
    }
  }

  /** Where a line does not tell whom it answers, it is the only one that waits, or else their deadlines decide. */
  private answeredBy(id: ReplyId | undefined): ReplyId[] {
    if (id !== undefined) return [id];
    const { waiting } = this.replies;
    return waiting.length === 1 ? waiting : [];
  }

  /** Puts an error of our own in place of answers that cannot be read. */
  private fail(ids: readonly ReplyId[], why: LocalErrorData['warren']): void {
    for (const id of ids) this.hand(localAnswer(id, why));
  }

  /** Whatever a provider writes, it must not bring down those who read it. */
  private hand(message: JSONRPCMessage): void {
    try {
      const expected = this.replies.receive(message);
      if (expected !== undefined) this.onmessage?.(expected);
    } catch {
      this.noise += 1;
    }
  }

  /** One that is about to exit by itself is let, so that its exit code can be told. */
  private async endUnlessItExits(): Promise<void> {
    await Promise.race([this.child.exited, delay(EXIT_GRACE_MS, undefined, { ref: false })]);
    if (!this.closed) await this.close();
  }

  private finish(): void {
    if (this.closed) return;
    this.closed = true;
    this.writes.close();
    // a pipe that is not read to its end is never closed
    this.child.stdout.resume();
    this.turns.leaveAll(new SessionError('interrupted', 'The session broke before the call was sent.', { sent: 'no' }));
    this.onclose?.();
  }
}
