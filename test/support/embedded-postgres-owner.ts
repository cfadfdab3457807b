import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** What the process reports: its database, or why it has none. */
export interface OwnerReport {
  error?: string;
  pid?: number;
  host?: string;
  adopted?: boolean;
  connectionString?: string;
}

/** Another process that runs `embedded-postgres-process.ts`. */
export interface Owner {
  readonly pid: number;
  readonly report: OwnerReport;
  /** Signals its process group, as a terminal does; resolves when the process has ended. */
  signal(signal: NodeJS.Signals): Promise<void>;
  /** Lets it stop its database; resolves when the process has ended. */
  end(): Promise<void>;
}

/** Starts a process that owns (or fails to own) the embedded database of a data directory, as `uid` when given. */
export async function startOwner(dataDirectory: string, uid?: number): Promise<Owner> {
  const support = path.dirname(fileURLToPath(import.meta.url));
  const script = [path.join(support, 'typescript.mjs'), path.join(support, 'embedded-postgres-process.ts')];
  const args = ['--import', ...script, dataDirectory, ...(uid === undefined ? [] : [String(uid)])];
  const child = spawn(process.execPath, args, { detached: true, stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  const [line] = (await Promise.race([
    once(createInterface({ input: child.stdout }), 'line'),
    ended.then(([code]) => [JSON.stringify({ error: `ended with ${String(code)} before its report` })]),
  ])) as [string];
  const pid = child.pid ?? 0;
  return {
    pid,
    report: JSON.parse(line) as OwnerReport,
    signal: async (signal) => {
      process.kill(-pid, signal);
      await ended;
    },
    end: async () => {
      child.stdin.end();
      await ended;
    },
  };
}
