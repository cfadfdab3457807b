import { execFile, type ChildProcess } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';

const PACKAGES = path.resolve('test/conformance/node_modules');

const running = new Set<ChildProcess>();

/** Kills whoever still judges, for when nobody waits for the verdict any more. */
export function endJudges(): void {
  for (const child of running) child.kill('SIGKILL');
}

/** How one of the judges ended. */
export interface Ended {
  code: number;
  output: string;
  errors: string;
}

export interface Judge {
  package: string;
  /** As its package.json names the command. */
  command: string;
}

/**
 * Runs a command of this folder's own packages with nothing of the environment but PATH and a home of its own; it is killed
 * after `limitMs`. Errors: when it did not end by itself.
 */
export async function runJudge(judge: Judge, args: readonly string[], home: string, limitMs: number): Promise<Ended> {
  const directory = path.join(PACKAGES, judge.package);
  const manifest = await readFile(path.join(directory, 'package.json'), 'utf8');
  const { bin } = JSON.parse(manifest) as { bin: Record<string, string> };
  const program = bin[judge.command];
  if (program === undefined) throw new Error(`${judge.package} has no command ${judge.command}`);
  const options = {
    env: { PATH: process.env['PATH'], HOME: home },
    cwd: home,
    timeout: limitMs,
    killSignal: 'SIGKILL' as const,
    maxBuffer: 64 * 1024 * 1024,
  };
  return new Promise((resolve, reject) => {
    const child = execFile(
      process.execPath,
      [path.join(directory, program), ...args],
      options,
      (error, output, errors) => {
        running.delete(child);
        const code = error === null ? 0 : error.code;
        if (typeof code === 'number') resolve({ code, output, errors });
        else reject(new Error(`${judge.command} did not end by itself: ${error?.message}\n${errors}`));
      },
    );
    running.add(child);
  });
}
