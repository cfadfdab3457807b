import { closeSync, openSync, readSync } from 'node:fs';

/** What the kernel says of a living process. */
export interface ProcessStat {
  parent: number;
  group: number;
  /** Clock ticks since boot: with its id it names one process for ever, because ids are used again. */
  start: string;
}

/** Undefined when there is no such process, when it is dead and only waits to be noticed, or without /proc. */
export function livingProcess(pid: number): ProcessStat | undefined {
  const [state, parent, group, start] = statFields(pid);
  if (start === undefined || state === 'Z' || state === 'X') return undefined;
  return { parent: Number(parent), group: Number(group), start };
}

/** When a process started, as in `ProcessStat`. Undefined when there is no such process or the system has no /proc. */
export function processStart(pid: number | 'self'): string | undefined {
  return statFields(pid)[3];
}

/** More than the line ever has. */
const line = Buffer.alloc(4_096);

/** State, parent, process group and start. */
function statFields(pid: number | 'self'): (string | undefined)[] {
  const stat = readLine(`/proc/${pid}/stat`);
  // fields 3, 4, 5 and 22; the command name before them may hold blanks and brackets
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields === undefined ? [] : [fields[0], fields[1], fields[2], fields[19]];
}

/** Half the time of `readFileSync`, which counts where hundreds of processes are looked at. */
function readLine(path: string): string | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    return line.toString('latin1', 0, readSync(file, line));
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
