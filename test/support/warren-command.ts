import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { logRecorder, recordDataDirectory, recordedEnvironment } from '../canary/recording.js';

export interface CommandEnd {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface CommandOptions {
  environment?: Record<string, string>;
  /** Another account to run as. */
  uid?: number;
  /** Where Warren is installed; this checkout unless given. */
  installation?: string;
}

/** The `warren` command from the build, in a process group of its own, with nothing of this process's environment but PATH. */
export class WarrenCommand {
  readonly ended: Promise<CommandEnd>;
  output = '';
  errors = '';
  private readonly child: ChildProcess;
  private readonly listeners = new Set<() => void>();
  private hasEnded = false;

  constructor(
    args: readonly string[],
    { environment = {}, uid, installation = path.resolve('.') }: CommandOptions = {},
  ) {
    const plain = { PATH: process.env['PATH'] ?? '', ...environment };
    this.child = spawn(process.execPath, [path.join(installation, 'bin/warren.mjs'), ...args], {
      cwd: installation,
      // another account may reach neither the recorder nor its files
      env: uid === undefined ? recordedEnvironment(plain, args[0] === 'quickstart' ? 'as set' : 'debug') : plain,
      ...(uid === undefined ? {} : { uid, gid: uid }),
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child.stdout?.on('data', (chunk: Buffer) => this.hear('output', chunk));
    this.child.stderr?.on('data', (chunk: Buffer) => this.hear('errors', chunk));
    const record = logRecorder();
    for (const stream of [this.child.stdout, this.child.stderr]) stream?.on('data', record);
    this.ended = once(this.child, 'close').then(([code, signal]) => {
      this.hasEnded = true;
      if (environment['WARREN_DATA_DIR'] !== undefined) recordDataDirectory(environment['WARREN_DATA_DIR']);
      this.tell();
      return { code, signal };
    });
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  get isRunning(): boolean {
    return !this.hasEnded;
  }

  /** The first match in standard output, now or later. Errors: when the command ends without it. */
  says(pattern: RegExp): Promise<RegExpExecArray> {
    return this.heard(pattern, 'output');
  }

  /** The same for standard error. */
  complains(pattern: RegExp): Promise<RegExpExecArray> {
    return this.heard(pattern, 'errors');
  }

  signal(signal: NodeJS.Signals): Promise<CommandEnd> {
    if (this.isRunning) this.child.kill(signal);
    return this.ended;
  }

  /** As a terminal does at Ctrl-C. */
  signalGroup(signal: NodeJS.Signals): Promise<CommandEnd> {
    if (this.isRunning && this.pid !== undefined) process.kill(-this.pid, signal);
    return this.ended;
  }

  /** Nobody reads what it writes from now on, as when its terminal is closed. */
  closeOutput(): void {
    this.child.stdout?.destroy();
    this.child.stderr?.destroy();
  }

  private heard(pattern: RegExp, stream: 'output' | 'errors'): Promise<RegExpExecArray> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const found = pattern.exec(this[stream]);
        if (found === null && !this.hasEnded) return;
        this.listeners.delete(look);
        if (found !== null) resolve(found);
        else reject(new Error(`ended without saying ${String(pattern)}:\n${this.output}\n${this.errors}`));
      };
      this.listeners.add(look);
      look();
    });
  }

  private hear(stream: 'output' | 'errors', chunk: Buffer): void {
    this[stream] += chunk.toString('utf8');
    this.tell();
  }

  private tell(): void {
    for (const listener of this.listeners) listener();
  }
}
