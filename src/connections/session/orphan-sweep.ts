import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { processStart } from '../../process-start.js';

/** As `ProviderProcesses` sets it: instance id, owner's process id, owner's start. */
const MARKER = /(?:^|\0)WARREN_CHILD=[^,\0]*,(\d+),(\d+)(?:\0|$)/;
/** From TERM to KILL, milliseconds. */
const TERM_GRACE_MS = 1_000;
const POLL_MS = 20;

/**
 * Ends the provider processes, and what they started, of a Warren that was killed: those whose marked owner no longer
 * exists. Those of a living replica are left alone, and so is every process of another process-id namespace, where the
 * same id means someone else. Returns how many there were; 0 where the system has no /proc.
 */
export async function endOrphanedProviders(): Promise<number> {
  const orphans = findOrphans();
  for (const pid of orphans) signal(pid, 'SIGTERM');
  const deadline = performance.now() + TERM_GRACE_MS;
  while (orphans.some(isOrphan) && performance.now() < deadline) await delay(POLL_MS);
  for (const pid of orphans.filter(isOrphan)) signal(pid, 'SIGKILL');
  return orphans.length;
}

function findOrphans(): number[] {
  try {
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    return pids.map(Number).filter(isOrphan);
  } catch {
    return [];
  }
}

/** Asked anew before each signal, because ids are used again. Unreadable processes are other users', so not ours. */
function isOrphan(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    const marked = MARKER.exec(readFileSync(`/proc/${pid}/environ`, 'utf8'));
    if (marked === null || readlinkSync(`/proc/${pid}/ns/pid`) !== readlinkSync('/proc/self/ns/pid')) return false;
    return processStart(Number(marked[1])) !== marked[2];
  } catch {
    return false;
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // it ended by itself meanwhile
  }
}
