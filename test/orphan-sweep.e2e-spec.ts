import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { eventually } from './support/eventually.js';
import { providersOf } from './support/processes.js';
import { startWarren, type TestWarren } from './support/warren.js';

/** Never leaves by itself: deaf to TERM and to the end of its input, with a grandchild of the same kind. */
const STUBBORN = `
  const { spawn } = require('node:child_process');
  process.on('SIGTERM', () => undefined);
  if (process.argv[1] !== 'grandchild') spawn(process.execPath, ['-e', process.env.SCRIPT, 'grandchild'], { stdio: 'ignore' });
  setInterval(() => undefined, 1000);
`;

describe('a Warren that starts after one was killed', () => {
  let living: TestWarren;
  let killed: TestWarren;

  beforeAll(async () => {
    living = await startWarren();
    killed = await startWarren({ database: living.database, adminKey: living.adminKey });
    const settings = {
      id: 'stubborn',
      name: 'stubborn',
      transport: 'stdio',
      command: process.execPath,
      args: ['-e', STUBBORN],
      environmentVariables: [{ name: 'SCRIPT', value: STUBBORN }],
      connectTimeoutMs: 60_000,
      lifecycle: 'keep_alive',
    };
    await living.api.expect(201, 'POST', '/api/connections', settings);
  });

  afterAll(async () => {
    for (const { pid } of providersOf(killed.process.pid)) process.kill(pid, 'SIGKILL');
    expect(await living.stop()).toBe(0);
    expect(providersOf(living.process.pid)).toEqual([]);
  });

  it("ends the killed one's providers and their children, not those of a living one", async () => {
    // the handshake never ends, so neither do these
    const pending = [living, killed].map(({ api }) =>
      api.post('/api/connections/stubborn/start').catch(() => undefined),
    );
    const both = [living.process.pid, killed.process.pid];
    await eventually(() => expect(both.map((owner) => providersOf(owner).length)).toEqual([2, 2]));
    const kept = providersOf(living.process.pid);

    killed.process.kill('SIGKILL');
    await once(killed.process, 'exit');

    const next = await startWarren({ database: living.database, adminKey: living.adminKey });
    try {
      expect(providersOf(killed.process.pid)).toEqual([]);
      expect(providersOf(living.process.pid)).toEqual(kept);
    } finally {
      expect(await next.stop()).toBe(0);
    }
    await living.api.expect(200, 'POST', '/api/connections/stubborn/stop');
    await Promise.all(pending);
  });
});
