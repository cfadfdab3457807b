import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';

interface WebFacts {
  /** Connections cut in mid-call so far. */
  cuts: number;
  initializations: number;
  /** The last `x-generation` header of any. */
  generation: string | null;
}

/** The provider over HTTP: a process of the soak's own, which may be killed and comes back on the same port. */
export class WebProvider {
  private child: ChildProcess | undefined;
  private port = 0;

  constructor(private readonly arrivals: string) {}

  get url(): string {
    return `http://127.0.0.1:${this.port}/mcp`;
  }

  get pid(): number {
    if (this.child?.pid === undefined) throw new Error('the HTTP provider does not run');
    return this.child.pid;
  }

  async start(): Promise<void> {
    const args = [path.resolve('test/soak/provider.mjs'), 'http', this.arrivals, String(this.port)];
    const child = spawn(process.execPath, args, {
      env: { PATH: process.env['PATH'] },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.child = child;
    this.port = await new Promise<number>((resolve, reject) => {
      child.once('exit', (code) => reject(new Error(`the HTTP provider ended at its start with ${String(code)}`)));
      createInterface({ input: child.stdout }).on('line', (line) => {
        const found = /^listening on (\d+)$/.exec(line)?.[1];
        if (found !== undefined) resolve(Number(found));
      });
    });
  }

  /** KILL, and resolves when it is gone. */
  async kill(): Promise<void> {
    const { child } = this;
    if (child === undefined) return;
    this.child = undefined;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }

  facts(): Promise<WebFacts> {
    return this.control('facts');
  }

  /** Cuts the connections of the next calls. */
  async cutNext(calls: number): Promise<void> {
    await this.control(`cut/${calls}`);
  }

  private async control(what: string): Promise<WebFacts> {
    const response = await fetch(new URL(`/control/${what}`, this.url));
    return (await response.json()) as WebFacts;
  }
}
