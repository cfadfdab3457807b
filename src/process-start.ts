import { readFileSync } from 'node:fs';

/**
 * When a process started, in clock ticks since boot: with its id it names one process for ever, because ids are used
 * again. Undefined when there is no such process or the system has no /proc.
 */
export function processStart(pid: number | 'self'): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // field 22; the command name before it may hold blanks and brackets
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}
