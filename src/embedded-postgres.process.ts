import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { EmbeddedPostgresError } from './embedded-postgres.error.js';
import { systemErrorCode } from './system-error.js';

/** What the server says about itself in `postmaster.pid`; that file is PostgreSQL's documented status file. */
export interface PostmasterStatus {
  readonly pid: number;
  readonly socketDirectory: string;
  readonly ready: boolean;
}

const POLL_MILLIS = 20;

/** The signals of fast, immediate and last-resort shutdown, each with the time it gets in milliseconds. */
const SHUTDOWN = [
  { signal: 'SIGINT', waitMillis: 10_000 },
  { signal: 'SIGQUIT', waitMillis: 5_000 },
  { signal: 'SIGKILL', waitMillis: 2_000 },
] as const;

/** Reads the status file of a cluster; undefined when there is none or it is only half written. */
export function readPostmasterStatus(cluster: string): PostmasterStatus | undefined {
  let lines: string[];
  try {
    lines = readFileSync(statusFile(cluster), 'utf8').split('\n');
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
  const pid = Number(lines[0]);
  if (!Number.isSafeInteger(pid) || pid <= 1) return undefined;
  return { pid, socketDirectory: lines[4] ?? '', ready: lines[7]?.trim() === 'ready' };
}

/**
 * True when the process is the running server of this cluster. Its command line decides, because process ids are used
 * again; that of a zombie is empty, so one nobody reaps counts as gone.
 */
export function isPostmaster(pid: number, cluster: string): boolean {
  return commandLine(pid).includes(cluster);
}

/** The arguments of a process, or nothing when it is gone. */
function commandLine(pid: number): string[] {
  try {
    if (process.platform === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    const command = execFileSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], {
      encoding: 'utf8',
      timeout: 5_000,
    });
    // A path with a space is split here, so the rest of the line is offered too.
    const afterDirectory = command.split(' -D ')[1]?.split(' -k ')[0];
    return [...command.trim().split(' '), ...(afterDirectory === undefined ? [] : [afterDirectory])];
  } catch {
    return [];
  }
}

/**
 * A status file whose process id now belongs to a stranger would make PostgreSQL refuse to start for ever. The id is
 * replaced by ours: PostgreSQL ignores its parent's id there, yet still checks the shared memory named in the file.
 */
export function disownRecycledPid(cluster: string): void {
  const status = readPostmasterStatus(cluster);
  if (status === undefined || isPostmaster(status.pid, cluster)) return;
  const lines = readFileSync(statusFile(cluster), 'utf8').split('\n');
  writeFileSync(statusFile(cluster), [String(process.pid), ...lines.slice(1)].join('\n'));
}

/**
 * Shuts a server down and resolves when its process is gone: fast, then immediate after 10 s, then by force.
 * Errors: `EmbeddedPostgresError` when even that does not end it.
 */
export async function stopPostmaster(pid: number, cluster: string): Promise<void> {
  for (const { signal, waitMillis } of SHUTDOWN) {
    if (!isPostmaster(pid, cluster)) return;
    sendSignal(pid, signal);
    const deadline = performance.now() + waitMillis;
    while (performance.now() < deadline) {
      if (!isPostmaster(pid, cluster)) return;
      await delay(POLL_MILLIS);
    }
  }
  throw new EmbeddedPostgresError(`The embedded database (process ${pid}) does not end.`);
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (systemErrorCode(error) !== 'ESRCH') throw error;
  }
}

function statusFile(cluster: string): string {
  return path.join(cluster, 'postmaster.pid');
}
