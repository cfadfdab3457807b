import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { realServer } from './real-providers.js';

export interface HttpProvider {
  url: string;
  stop(): Promise<void>;
}

const PATHS = { streamableHttp: '/mcp', sse: '/sse' } as const;

/** The real server-everything on a free port of loopback, over Streamable HTTP or the older SSE transport. */
export async function startHttpProvider(transport: keyof typeof PATHS): Promise<HttpProvider> {
  const preload = path.resolve('test/support/loopback-only.mjs');
  const child = spawn(process.execPath, ['--import', preload, realServer('everything'), transport], {
    env: { PATH: process.env['PATH'] },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const exited = once(child, 'exit');
  const port = await new Promise<string>((resolve, reject) => {
    void exited.then(([code]) => reject(new Error(`the provider ended at its start with exit code ${String(code)}`)));
    createInterface({ input: child.stderr }).on('line', (line) => {
      const found = /^listening on (\d+)$/.exec(line)?.[1];
      if (found !== undefined) resolve(found);
    });
  });
  return {
    url: `http://127.0.0.1:${port}${PATHS[transport]}`,
    stop: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
