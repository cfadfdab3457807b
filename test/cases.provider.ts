import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { serverOf } from './cases.file.js';
import type { HttpProvider } from './support/http-provider.js';

/** Starts the fake provider of an HTTP case on a free port. */
export async function startCaseProvider(id: string, logFile: string): Promise<HttpProvider & { pid: number }> {
  const child = spawn(process.execPath, [serverOf(id)], {
    env: { PATH: process.env['PATH'], FAKE_LOG: logFile },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const url = await new Promise<string>((resolve, reject) => {
    void exited.then(([code]) => reject(new Error(`${id} ended at its start with exit code ${String(code)}`)));
    createInterface({ input: child.stdout }).on('line', (line) => {
      const found = /^LISTENING (\S+)$/.exec(line)?.[1];
      if (found !== undefined) resolve(found);
    });
  });
  return {
    url,
    // it answered, so it was started
    pid: child.pid!,
    stop: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
