import { readlinkSync } from 'node:fs';
import { parseChildMarker } from '../../child-marker.js';
import { withDescendants } from '../../process-family.js';
import { processStart } from '../../process-start.js';
import { ProcessTable, type ProcessFacts } from '../../process-table.js';
import { lookUntil, StrayProcesses } from '../../stray-processes.js';

/** From TERM to KILL, milliseconds. */
const TERM_GRACE_MS = 1_000;
/** After KILL the kernel needs a moment, milliseconds. */
const KILL_WAIT_MS = 500;

/**
 * Ends the provider processes, and what they started, of a Warren that was killed: those whose marked owner no longer
 * exists. Those of a living replica are left alone, and so is every process of another process-id namespace, where the
 * same id means someone else. Returns how many there were; 0 where the system has no /proc.
 */
export async function endOrphanedProviders(): Promise<number> {
  const table = new ProcessTable();
  const orphans = new StrayProcesses();
  orphans.add(orphansIn(await table.read()));
  if (orphans.count === 0) return 0;
  orphans.tell('SIGTERM');
  await lookUntil(performance.now() + TERM_GRACE_MS, () => orphans.areGone);
  // some may have started others meanwhile
  orphans.add(orphansIn(await table.read()));
  orphans.tell('SIGKILL');
  await lookUntil(performance.now() + KILL_WAIT_MS, () => orphans.areGone);
  return orphans.count;
}

function orphansIn(table: readonly ProcessFacts[]): ProcessFacts[] {
  // what this process started is no orphan, whoever started this process
  const others = table.filter(({ pid }) => pid !== process.pid);
  const orphans = new Set(others.filter(isOrphan));
  withDescendants(others, orphans);
  return [...orphans];
}

function isOrphan({ pid, marker }: ProcessFacts): boolean {
  const owner = marker === undefined ? undefined : parseChildMarker(marker);
  if (owner === undefined || !isInOurNamespace(pid)) return false;
  return processStart(owner.ownerPid) !== owner.ownerStart;
}

/** Unreadable processes are other users', so not ours. */
function isInOurNamespace(pid: number): boolean {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`) === readlinkSync('/proc/self/ns/pid');
  } catch {
    return false;
  }
}
