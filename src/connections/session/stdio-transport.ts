import { serializeMessage, type JSONRPCMessage, type Transport } from '@modelcontextprotocol/client';
import { gateOf, type DispatchGate } from '../../dispatch-gate.js';
import { setTimeout as delay } from 'node:timers/promises';
import type { Subprocess } from '../../subprocess.js';
import { MessageLines } from './message-lines.js';
import { LOCAL_ERROR_CODE, SessionError, type LocalErrorData } from './session-error.js';

/** A write that lost its admission is tried this often before the call fails. */
const ADMISSION_ATTEMPTS = 3;
/** What a process wrote before it exited may still be in the pipe; a grandchild may hold the pipe open for ever. */
const LAST_OUTPUT_MS = 250;

/**
 * MCP over a child's standard input and output. The child is launched and stopped by its owner; closing the transport
 * starts the stop ladder without waiting for it.
 */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  /** Lines of output that were no messages. */
  noise = 0;
  /** Names this transport as stdio to the SDK, with `pid`. */
  readonly stderr = null;
  private readonly lines: MessageLines;
  private readonly pending = new Set<number>();
  private readonly writing = new Set<Promise<void>>();
  private closed = false;

  constructor(
    private readonly child: Subprocess,
    maximumMessageBytes: number,
  ) {
    this.lines = new MessageLines(maximumMessageBytes);
  }

  get pid(): number {
    return this.child.pid;
  }

  async start(): Promise<void> {
    this.child.stdout.on('data', (chunk: Buffer) => this.receive(chunk));
    const outputEnded = new Promise<void>((resolve) => {
      this.child.stdout.once('close', resolve);
    });
    void this.child.exited.then(async () => {
      await Promise.race([outputEnded, delay(LAST_OUTPUT_MS)]);
      this.finish();
    });
  }

  /** Resolves when the message is in the pipe. A guarded message passes its gate first. */
  async send(message: JSONRPCMessage): Promise<void> {
    const line = serializeMessage(message);
    const gate = gateOf(line);
    this.track(message);
    if (gate === undefined) return this.write(line);
    for (let attempt = 0; attempt < ADMISSION_ATTEMPTS; attempt += 1) {
      await gate.admit();
      await this.pipeIdle();
      if (gate.mayWrite()) return this.writeAdmitted(line, gate);
      gate.abandoned();
    }
    throw new SessionError('busy', 'The call could not be written while its admission held.', { sent: 'no' });
  }

  async close(): Promise<void> {
    void this.child.stop();
    this.finish();
  }

  /** Waits until earlier messages are in the pipe, so that an admitted one begins to be written at once. */
  private async pipeIdle(): Promise<void> {
    while (this.writing.size > 0) await Promise.race(this.writing);
  }

  private track(message: JSONRPCMessage): void {
    if (!('method' in message)) return;
    if ('id' in message) this.pending.add(Number(message.id));
    else if (message.method === 'notifications/cancelled') this.pending.delete(Number(message.params?.requestId));
  }

  private writeAdmitted(line: string, gate: DispatchGate): Promise<void> {
    if (this.closed || !this.child.stdin.writable) {
      gate.abandoned();
      throw new SessionError('interrupted', 'The session broke before the call was written.', { sent: 'no' });
    }
    return this.write(line).finally(() => gate.written());
  }

  private write(line: string): Promise<void> {
    const written = this.writeToPipe(line);
    const settled = written.then(
      () => undefined,
      () => undefined,
    );
    this.writing.add(settled);
    void settled.then(() => this.writing.delete(settled));
    return written;
  }

  private writeToPipe(line: string): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.closed || !this.child.stdin.writable) {
        reject(new SessionError('interrupted', 'The provider process no longer reads.', { sent: 'no' }));
        return;
      }
      this.child.stdin.write(line, (error) => {
        if (error)
          reject(
            new SessionError('interrupted', 'The provider process no longer reads.', { sent: 'maybe', cause: error }),
          );
        else resolve();
      });
    });
  }

  private receive(chunk: Buffer): void {
    for (const line of this.lines.push(chunk)) {
      switch (line.kind) {
        case 'message':
          if (!('method' in line.message)) this.pending.delete(Number(line.message.id));
          this.onmessage?.(line.message);
          break;
        case 'noise':
          this.noise += 1;
          break;
        case 'oversize':
          this.failOversize(line.id);
          break;
      }
    }
  }

  /** The request an oversize line answers fails with words; where that is unknown, all that wait do. */
  private failOversize(id: number | undefined): void {
    const ids = id !== undefined && this.pending.has(id) ? [id] : [...this.pending];
    for (const failed of ids) {
      this.pending.delete(failed);
      const data: LocalErrorData = { warren: 'too_large' };
      this.onmessage?.({
        jsonrpc: '2.0',
        id: failed,
        error: { code: LOCAL_ERROR_CODE, message: 'message too large', data },
      });
    }
  }

  private finish(): void {
    if (this.closed) return;
    this.closed = true;
    this.onclose?.();
  }
}
