import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import type { HttpBounds } from '../../src/http-bounds.js';
import { createTestDatabase } from './test-database.js';
import { TEST_KEYRING } from './warren.js';

/** A whole Warren with the bounds that no setting shortens. */
export interface BoundedServer {
  url: string;
  headersTimeout: number;
  requestTimeout: number;
  keepAliveTimeout: number;
  maxConnections: number;
  stop(): Promise<void>;
}

/** Starts one, in a process and on a database of its own. `stop()` it in `afterAll`. */
export async function startBoundedServer(
  bounds: Partial<HttpBounds>,
  environment: Record<string, string>,
): Promise<BoundedServer> {
  const database = await createTestDatabase();
  const child = spawn(process.execPath, [resolve('test/support/serve-bounded.mjs'), JSON.stringify(bounds)], {
    env: {
      PORT: '0',
      LOG_LEVEL: 'warn',
      DATABASE_URL: database.connectionString,
      WARREN_SECRET_KEYS: TEST_KEYRING,
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const ended = exited.then(([code]) => {
    throw new Error(`ended during its start with exit code ${String(code)}`);
  });
  const [said] = (await Promise.race([once(child.stdout, 'data'), ended])) as [Buffer];
  ended.catch(() => undefined);
  return {
    ...(JSON.parse(said.toString('utf8')) as Omit<BoundedServer, 'stop'>),
    stop: async () => {
      child.kill('SIGTERM');
      await exited;
      await database.drop();
    },
  };
}
