import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { findSystemAccount } from '../src/system-account.js';
import { createAgent } from './support/real-providers.js';
import { createTestDatabase, type TestDatabase } from './support/test-database.js';
import { startWarren, type TestWarren } from './support/warren.js';

/** Lists the open descriptors before Node opens its own. */
const STARTER = `exec "$0" "$1" "$(ls -l /proc/self/fd)" "$2" "$3"`;
const SECRET = 'configured-secret-of-the-provider';
const SECRET_ARGUMENT = 'configured-secret-argument';
/** What the server's own environment may hold. */
const OF_THE_SERVER = {
  AWS_SECRET_ACCESS_KEY: 'a secret of the server',
  NODE_OPTIONS: '--no-deprecation',
  LD_LIBRARY_PATH: '/nowhere',
  npm_config_token: 'another secret of the server',
};
const isRoot = process.getuid?.() === 0;

interface View {
  environment: Record<string, string>;
  descriptors: string[];
  arguments: string[];
  workingDirectory: string;
  workingDirectoryHolds: string[];
  users: number[];
  groups: number[];
  leadsItsGroup: boolean;
  leadsItsSession: boolean;
}

/** Descriptors that whoever started this test left open for all that follow, Warren included. */
const passedOn = execFileSync('ls', ['/proc/self/fd'], { encoding: 'utf8' })
  .split('\n')
  .map(Number)
  .filter((number) => number > 3)
  .toSorted((a, b) => a - b);

let database: TestDatabase;
let warren: TestWarren | undefined;

beforeAll(async () => {
  database = await createTestDatabase();
});

afterEach(async () => {
  await warren?.stop();
  warren = undefined;
});

afterAll(() => database.drop());

const hashed = (value: string): string => createHash('sha256').update(value).digest('hex');

/** Saves a connection, calls its tool as an agent, and answers what the process saw. */
async function look(
  lifecycle: string,
  environment: Record<string, string> = {},
  settings: Record<string, unknown> = {},
): Promise<View> {
  warren = await startWarren({ database, environment: { ...OF_THE_SERVER, ...environment } });
  const { api } = warren;
  await api.expect(201, 'POST', '/api/connections?discover=true', {
    id: 'mirror',
    name: 'Mirror',
    transport: 'stdio',
    lifecycle,
    command: 'sh',
    args: [
      '-c',
      STARTER,
      process.execPath,
      resolve('test/providers/mirror-provider.mjs'),
      'plain',
      { secret: 'key', value: SECRET_ARGUMENT },
    ],
    environmentVariables: [{ name: 'LICENCE', value: SECRET }],
    ...settings,
  });
  const agent = await createAgent(api, 'looker', { mirror: ['look'] });
  const called = { provider: 'mirror', tool: 'look' };
  const receipt = await agent.expect(200, 'POST', '/api/agents/looker/menu/mcp_call', called);
  await api.expect(204, 'DELETE', '/api/agents/looker');
  await api.expect(204, 'DELETE', '/api/connections/mirror');
  return JSON.parse(receipt.content[0].text) as View;
}

describe.each(['ephemeral', 'keep_alive'])('a provider over stdio, %s,', (lifecycle) => {
  it('sees the PATH, what was configured and whose it is, and nothing else of the server', async () => {
    const view = await look(lifecycle);
    // PWD is of the shell that starts it
    expect(Object.keys(view.environment).toSorted()).toEqual(['LICENCE', 'PATH', 'PWD', 'WARREN_CHILD']);
    expect(view.environment).toMatchObject({ LICENCE: hashed(SECRET), PATH: hashed(process.env.PATH ?? '') });
    expect(view.arguments).toEqual(['plain', SECRET_ARGUMENT].map(hashed));
    // 3 is what the list was read from
    const numbers = view.descriptors.map((descriptor) => Number.parseInt(descriptor, 10)).toSorted((a, b) => a - b);
    expect(numbers).toEqual([0, 1, 2, 3, ...passedOn]);
    expect(view.workingDirectory).toMatch(/\/warren-provider-[^/]+$/);
    expect(view.workingDirectoryHolds).toEqual([]);
    expect(view).toMatchObject({ leadsItsGroup: true, leadsItsSession: true });
  });
});

it('a provider works in the directory it was given', async () => {
  const view = await look('ephemeral', {}, { cwd: resolve('test/providers') });
  expect(view.workingDirectory).toBe(resolve('test/providers'));
});

describe('WARREN_STDIO_USER', () => {
  const account = findSystemAccount('nobody');

  it('is whom a provider runs as, with that user’s group alone', async () => {
    const seen = await look('keep_alive', { WARREN_STDIO_USER: 'nobody' }).then(
      ({ users, groups }) => ({ users, groups }),
      (error: unknown) => ({ refused: String(error).includes('only root may start processes') }),
    );
    const four = (id: number | undefined) => Array.from({ length: 4 }, () => id);
    expect(seen).toEqual(isRoot ? { users: four(account?.uid), groups: four(account?.gid) } : { refused: true });
  });
});
