import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { chownSync, cpSync, existsSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isRoot } from '../src/data-directory.js';
import { Api } from './support/api.js';
import { processesIn, providersOf } from './support/processes.js';
import { temporaryDataDirectory } from './support/temporary-data-directory.js';
import { WarrenCommand, type CommandOptions } from './support/warren-command.js';

const NOBODY = 65_534;

describe('warren quickstart', () => {
  let root: string;
  let directory: string;
  let started: WarrenCommand[];

  beforeEach(() => {
    root = temporaryDataDirectory();
    directory = path.join(root, 'data');
    started = [];
  });

  afterEach(async () => {
    for (const command of started) await command.signal('SIGINT');
    const left = processesIn(root);
    rmSync(root, { recursive: true, force: true });
    expect(left).toEqual([]);
  });

  const quickstart = (options: CommandOptions = {}): WarrenCommand => {
    const environment = { HOME: root, PORT: '0', WARREN_DATA_DIR: directory, ...options.environment };
    const command = new WarrenCommand(['quickstart'], { ...options, environment });
    started.push(command);
    return command;
  };

  it("shows a real tool's answer, got over MCP as the agent, and keeps serving until SIGINT", async () => {
    const command = quickstart();
    await command.says(/Ctrl-C stops everything/);
    expect(command.output).toContain('embedded PostgreSQL');
    expect(command.output).toContain('granted exactly: echo, get-sum, get-structured-content');
    expect(command.output).toMatch(/over MCP 2026-07-28, as demo: mcp_providers, mcp_capabilities, mcp_call/);
    expect(command.output).toContain('The sum of 19 and 23 is 42.');
    const echoed = /echo \{message: "(\w+)"\} → Echo: (\w+)/.exec(command.output);
    expect(echoed?.[1]).toBe(echoed?.[2]);

    const { url, key, token } = credentialsOf(command);
    expect((await new Api(url, undefined).get('/health/ready')).status).toBe(200);
    const answer = await new Api(url, token).post('/api/agents/demo/menu/mcp_call', {
      provider: 'everything',
      tool: 'get-sum',
      arguments: { a: 1, b: 2 },
    });
    expect(answer.body).toMatchObject({ ok: true, content: [{ text: 'The sum of 1 and 2 is 3.' }] });
    const operator = new Api(url, key);
    const { items } = await operator.expect(200, 'GET', '/api/calls?agentId=demo');
    expect(items).toHaveLength(3);
    const connection = await operator.expect(200, 'GET', '/api/connections/everything');
    expect(providersOf(command.pid).map(({ pid }) => pid)).toEqual(
      connection.live.processes.map(({ pid }: { pid: number }) => pid),
    );

    for (const file of ['secret.key', 'quickstart-operator-key', 'quickstart-agent-token']) {
      expect([file, statSync(path.join(directory, file)).mode & 0o777]).toEqual([file, 0o600]);
    }
    expect(await command.signal('SIGINT')).toEqual({ code: 0, signal: null });
    // other tests kill Warrens meanwhile, and whichever starts next ends what those left behind
    const errors = command.errors
      .split('\n')
      .filter((line) => !line.includes('of a Warren that was killed were ended'));
    expect(errors.join('\n')).toBe('');
    expect(providersOf(command.pid)).toEqual([]);
    expect(processesIn(root)).toEqual([]);
  });

  it('ends at a Ctrl-C that reaches its whole process group, and reuses key, token and data in the next run', async () => {
    const first = quickstart();
    await first.says(/Ctrl-C stops everything/);
    expect(await first.signalGroup('SIGINT')).toEqual({ code: 0, signal: null });
    expect(providersOf(first.pid)).toEqual([]);
    expect(processesIn(root)).toEqual([]);

    const second = quickstart();
    await second.says(/Ctrl-C stops everything/);
    expect(second.output).toContain('The sum of 19 and 23 is 42.');
    const { key, token } = credentialsOf(first);
    expect(credentialsOf(second)).toMatchObject({ key, token });
    const { items } = await new Api(credentialsOf(second).url, key).expect(200, 'GET', '/api/calls?agentId=demo');
    expect(items).toHaveLength(4);
  });

  it('refuses a second one on the same data in words, and the first goes on', async () => {
    const first = quickstart();
    await first.says(/Ctrl-C stops everything/);
    const second = quickstart();
    expect(await second.ended).toEqual({ code: 1, signal: null });
    expect(second.errors).toBe(
      `Another Warren (process ${first.pid}) is running on the data directory ${directory}. ` +
        'Stop it, or set WARREN_DATA_DIR to another directory.\n',
    );
    const { url, token } = credentialsOf(first);
    const answer = await new Api(url, token).post('/api/agents/demo/menu/mcp_call', {
      provider: 'everything',
      tool: 'echo',
      arguments: { message: 'still here' },
    });
    expect(answer.body).toMatchObject({ ok: true, content: [{ text: 'Echo: still here' }] });
  });

  it('adopts the database of one that was killed', async () => {
    const killed = quickstart();
    await killed.says(/Ctrl-C stops everything/);
    const server = databasePid(directory);
    expect(await killed.signal('SIGKILL')).toEqual({ code: null, signal: 'SIGKILL' });
    const next = quickstart();
    await next.says(/Ctrl-C stops everything/);
    expect(databasePid(directory)).toBe(server);
    expect(next.output).toContain('The sum of 19 and 23 is 42.');
    expect(credentialsOf(next)).toMatchObject({ key: credentialsOf(killed).key, token: credentialsOf(killed).token });
    expect(providersOf(killed.pid)).toEqual([]);
  });

  it('ends cleanly when told so while it starts', async () => {
    const command = quickstart();
    await appearance(path.join(directory, 'postgres/postmaster.pid'));
    expect(await command.signalGroup('SIGINT')).toEqual({ code: 0, signal: null });
    expect(providersOf(command.pid)).toEqual([]);
    expect(processesIn(root)).toEqual([]);
  });

  it('ends cleanly when its terminal is closed', async () => {
    const command = quickstart();
    await command.says(/Ctrl-C stops everything/);
    command.closeOutput();
    expect(await command.signalGroup('SIGHUP')).toEqual({ code: 0, signal: null });
    expect(providersOf(command.pid)).toEqual([]);
    expect(processesIn(root)).toEqual([]);
  });

  (isRoot() ? describe : describe.skip)('started by root as an ordinary user', () => {
    it('works too', async () => {
      const installation = readableInstallation(root);
      chownSync(root, NOBODY, NOBODY);
      const command = quickstart({ uid: NOBODY, installation });
      await command.says(/Ctrl-C stops everything/);
      expect(command.output).toContain('The sum of 19 and 23 is 42.');
      expect(statSync(`/proc/${command.pid}`).uid).toBe(NOBODY);
      expect(statSync(directory)).toMatchObject({ uid: NOBODY, mode: 0o40700 });
      expect(await command.signalGroup('SIGINT')).toEqual({ code: 0, signal: null });
      expect(processesIn(root)).toEqual([]);
    }, 180_000);
  });
});

function credentialsOf({ output }: WarrenCommand): { url: string; key: string; token: string } {
  const url = /serves at (http:\S+)/.exec(output)?.[1] ?? '';
  const key = /\bwop_\w+/.exec(output)?.[0] ?? '';
  const token = /\bwag_\w+/.exec(output)?.[0] ?? '';
  return { url, key, token };
}

async function appearance(file: string): Promise<void> {
  while (!existsSync(file)) await delay(5);
}

function databasePid(directory: string): number {
  return Number.parseInt(readFileSync(path.join(directory, 'postgres/postmaster.pid'), 'utf8'), 10);
}

/** What an installation holds, where any user may read it: a checkout may lie in a private directory. */
function readableInstallation(root: string): string {
  const installation = path.join(root, 'installation');
  for (const name of ['bin', 'dist', 'package.json']) cpSync(name, path.join(installation, name), { recursive: true });
  const packages = path.resolve('node_modules');
  const target = path.join(installation, 'node_modules');
  if (isReachable(packages)) symlinkSync(packages, target);
  else cpSync(packages, target, { recursive: true, verbatimSymlinks: true });
  return installation;
}

/** True when others may pass through every directory on the way. */
function isReachable(directory: string): boolean {
  for (let at = directory; ; at = path.dirname(at)) {
    if ((statSync(at).mode & 0o005) !== 0o005) return false;
    if (at === path.dirname(at)) return true;
  }
}
