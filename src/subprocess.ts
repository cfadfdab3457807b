import { execa } from 'execa';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { CHILD_MARKER } from './child-marker.js';
import { findExecutable } from './executable-lookup.js';
import { processStart } from './process-start.js';
import { ProcessTable } from './process-table.js';
import type { Redactor } from './redactor.js';
import type { RedactionStream } from './redactor.stream.js';
import { StopLadder } from './stop-ladder.js';
import type { SystemAccount } from './system-account.js';
import { systemErrorCode } from './system-error.js';
import { TailBuffer } from './tail-buffer.js';

/** Bytes of standard error kept per process. */
const STDERR_TAIL_BYTES = 256 * 1024;
/** How long a process may take to leave by itself once its standard input ended, milliseconds. */
const EOF_GRACE_MS = 100;
/** How long a killed leader's exit may take to be noticed, milliseconds. */
const EXIT_WAIT_MS = 500;
/** How long what was written before the end may take to be read, milliseconds. */
const LAST_READ_MS = 1_000;

/** One for all, so that many who end at once are looked for in one reading. */
const processTable = ProcessTable.ofDescendants();

export interface LaunchRequest {
  command: string;
  args: readonly string[];
  /**
   * The complete environment of the child; nothing is inherited. A `WARREN_CHILD` of its own in it lets everything the
   * child starts be found again.
   */
  environment: Readonly<Record<string, string>>;
  workingDirectory: string;
  /** Where a bare command name is looked up. */
  searchPath: string;
  /** Another system account to run as. */
  account?: SystemAccount | undefined;
  /** Masks what comes on standard error, before any of it is forgotten. */
  redactor: Redactor;
}

export interface ProcessExit {
  code: number | null;
  signal: string | null;
}

/** The executable could not be started. */
export class LaunchError extends Error {
  constructor(
    readonly reason: 'executable_not_found' | 'executable_not_permitted' | 'unknown',
    message: string,
    /** The same for agents, without any place of this machine. */
    readonly brief: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'LaunchError';
  }
}

/**
 * A child in a process group of its own. Standard error is always drained; the group is ended as a whole, and with it
 * what the child started outside of it, also when its leader leaves first.
 */
export class Subprocess {
  /** Resolves when the leader has exited and nothing that it started is left. Never rejects. */
  readonly ended: Promise<ProcessExit>;
  /** Resolves as soon as the leader has exited. Never rejects. */
  readonly exited: Promise<ProcessExit>;
  private readonly tail = new TailBuffer(STDERR_TAIL_BYTES);
  private stopping: Promise<void> | undefined;

  private constructor(
    readonly pid: number,
    readonly startedAt: Date,
    readonly stdin: Writable,
    readonly stdout: Readable,
    private readonly stderr: Readable,
    exit: Promise<ProcessExit>,
    private readonly ladder: StopLadder,
    private readonly masking: RedactionStream,
  ) {
    stderr.on('data', (chunk: Buffer) => this.tail.push(Buffer.from(masking.push(chunk))));
    stderr.once('close', () => this.tail.push(Buffer.from(masking.endCut())));
    // a child that closes its end early must not end this process
    for (const stream of [stdin, stdout, stderr]) stream.on('error', () => undefined);
    this.exited = exit;
    this.ended = exit.then(async (status) => {
      await ladder.end();
      this.closePipes();
      return status;
    });
  }

  /** Errors: `LaunchError`. */
  static async launch(request: LaunchRequest): Promise<Subprocess> {
    const lookup = await findExecutable(request.command, request.searchPath, request.workingDirectory);
    if (!lookup.found) throw new LaunchError(lookup.reason, lookup.detail, lookup.brief);
    const child = execa(lookup.path, [...request.args], {
      env: request.environment,
      extendEnv: false,
      cwd: request.workingDirectory,
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'pipe',
      buffer: false,
      reject: false,
      detached: true,
      cleanup: false,
      encoding: 'buffer',
      stripFinalNewline: false,
      ...(request.account === undefined ? {} : { uid: request.account.uid, gid: request.account.gid }),
    });
    if (child.pid === undefined) {
      const failure = await child;
      const code = systemErrorCode(failure.cause);
      const reason = code === 'EACCES' || code === 'EPERM' ? 'executable_not_permitted' : 'unknown';
      const how = `could not be started (${code ?? 'no code'}).`;
      throw new LaunchError(reason, `${request.command} ${how}`, `The provider's command ${how}`, { cause: failure });
    }
    const exit = new Promise<ProcessExit>((resolve) => {
      child.once('exit', (code, signal) => resolve({ code, signal }));
    });
    void child.catch(() => undefined);
    const marker = request.environment[CHILD_MARKER];
    const ladder = new StopLadder({ pid: child.pid, start: processStart(child.pid), marker }, processTable);
    const masking = request.redactor.stream();
    return new Subprocess(child.pid, new Date(), child.stdin, child.stdout, child.stderr, exit, ladder, masking);
  }

  /** The last 256 KiB of standard error, as text, redacted. */
  stderrTail(): string {
    return this.tail.text() + this.masking.shortRest;
  }

  /** Ends standard input, then TERM to all it started, then KILL after 1 s; resolves when all are gone. */
  stop(): Promise<void> {
    this.stopping ??= this.runStopLadder();
    return this.stopping;
  }

  /** Kills the process and all that it started; resolves when they have been told. */
  kill(): Promise<void> {
    return this.ladder.kill();
  }

  /** Somebody who got away may hold the other ends for ever; what was written before the end has a moment to be read. */
  private closePipes(): void {
    this.stdin.destroy();
    for (const stream of [this.stdout, this.stderr]) {
      const closing = setTimeout(() => stream.destroy(), LAST_READ_MS).unref();
      stream.once('close', () => clearTimeout(closing));
    }
  }

  private async runStopLadder(): Promise<void> {
    await this.ladder.look();
    this.stdin.end();
    await Promise.race([this.exited, delay(EOF_GRACE_MS)]);
    await this.ladder.end();
    await Promise.race([this.exited, delay(EXIT_WAIT_MS)]);
  }
}
