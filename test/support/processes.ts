import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** A living process, as the kernel shows it. */
export interface LivingProcess {
  pid: number;
  command: string;
}

/** Processes that work in a directory: by their arguments, working directory or environment. Not this one. */
export function processesIn(directory: string): LivingProcess[] {
  return living(({ command, workingDirectory, environment }) =>
    [command, workingDirectory, environment].some((text) => text.includes(directory)),
  );
}

/** Provider processes that a Warren of this process id started, and what they started. */
export function providersOf(warren: number | undefined): LivingProcess[] {
  return living(({ environment }) => new RegExp(`(^|\\0)WARREN_CHILD=[^,\\0]*,${warren},`).test(environment));
}

/** Ids of the children of a process, the dead that it has not noticed included. */
export function childrenOf(parent: number): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => {
    const stat = quietly(() => readFileSync(`/proc/${pid}/stat`, 'latin1'));
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === parent;
  });
}

/** Whether this process lives; a zombie does not. */
export function isAlive(pid: number): boolean {
  return quietly(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8')) !== '';
}

interface Facts {
  command: string;
  workingDirectory: string;
  environment: string;
}

function living(matches: (facts: Facts) => boolean): LivingProcess[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  return pids.flatMap((pid) => {
    const command = quietly(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8')).replaceAll('\0', ' ');
    // a zombie has no command line: it is dead and only waits to be noticed
    if (command === '') return [];
    const workingDirectory = quietly(() => readlinkSync(`/proc/${pid}/cwd`));
    const environment = quietly(() => readFileSync(`/proc/${pid}/environ`, 'utf8'));
    return matches({ command, workingDirectory, environment }) ? [{ pid: Number(pid), command }] : [];
  });
}

/** A process may end while it is looked at. */
function quietly(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}
