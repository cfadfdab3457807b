import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ApiAnswer } from './support/api.js';
import { eventually } from './support/eventually.js';
import { overFake } from './support/fake-provider.js';
import { providersOf } from './support/processes.js';
import { createAgent } from './support/real-providers.js';
import { startWarren, type TestWarren } from './support/warren.js';

/** A missing executable is to be told within this, milliseconds. */
const PROMPT_MS = 1_000;
/** A process that exits at its start is to be told within this, milliseconds. */
const EXIT_MS = 3_000;

interface LaunchInput {
  command: string;
  args: string[];
  env?: Record<string, string>;
  want: string;
}

const { inputs } = JSON.parse(readFileSync('test/cases/inputs/launch-errors.json', 'utf8')) as {
  inputs: LaunchInput[];
};

/** Refused when it is saved, naming the field; or saved, and its launch fails for a reason in words. */
type Outcome = { field: string } | { reason: string; says: RegExp; withinMs: number };

const SERVICE_PATH = `${path.dirname(process.execPath)}:/usr/bin:/bin`;
const NOT_FOUND = { reason: 'executable_not_found', withinMs: PROMPT_MS };
const NOT_PERMITTED = { reason: 'executable_not_permitted', withinMs: PROMPT_MS };
const EXITED = { reason: 'process_exited', withinMs: EXIT_MS };

/** In the order of the file. */
const OUTCOMES: Outcome[] = [
  { ...NOT_FOUND, says: new RegExp(`no-such-binary-4711 was not found on the service's PATH: ${SERVICE_PATH}`) },
  { ...NOT_FOUND, says: /\.\/relative-tool was not found relative to the working directory/ },
  { ...NOT_PERMITTED, says: /\/etc\/passwd exists but is not an executable file/ },
  { ...NOT_PERMITTED, says: /\/ exists but is not an executable file/ },
  { field: 'command' },
  { field: 'command' },
  { field: 'args[0]' },
  { ...NOT_FOUND, says: /node server\.mjs was not found.*A blank is part of the name here: put arguments into args/ },
  { ...EXITED, says: /exit code 0/ },
  { ...EXITED, says: /signal SIGSEGV/ },
  { field: 'environmentVariables[0].name' },
  { ...EXITED, says: /exit code 1.*standard error: .*\/x\.js/s },
];

describe('a provider that cannot be launched', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'warren-launch-'));
  let warren: TestWarren;

  beforeAll(async () => {
    warren = await startWarren({ environment: { PATH: SERVICE_PATH } });
  });

  afterAll(async () => {
    await eventually(() => expect(providersOf(warren.process.pid)).toEqual([]));
    expect(await warren.stop()).toBe(0);
    expect(readdirSync(directory)).toEqual([]);
    rmSync(directory, { recursive: true, force: true });
  });

  const save = (id: string, { command, args, env = {} }: Omit<LaunchInput, 'want'>): Promise<ApiAnswer> => {
    const environmentVariables = Object.entries(env).map(([name, value]) => ({ name, value }));
    return warren.api.post('/api/connections', {
      id,
      name: id,
      transport: 'stdio',
      command,
      args,
      environmentVariables,
      cwd: directory,
    });
  };

  const cases = inputs.map((input, at) => {
    const name = JSON.stringify([input.command, ...input.args]);
    return { name, id: `case-${at}`, input, outcome: OUTCOMES[at] ?? { field: 'none was expected' } };
  });

  it('has an expectation for every input', () => {
    expect(OUTCOMES).toHaveLength(inputs.length);
  });

  it.each(cases.flatMap((one) => ('field' in one.outcome ? [{ ...one, outcome: one.outcome }] : [])))(
    'is refused when it is saved: $name',
    async ({ input, outcome, id }) => {
      const { status, body } = await save(id, input);
      expect({ status, code: body.code }).toEqual({ status: 400, code: 'validation_failed' });
      expect(body.errors.map((error: { path: string }) => error.path)).toContain(outcome.field);
      expect(JSON.stringify(body)).not.toContain('\\u0000');
    },
  );

  it.each(cases.flatMap((one) => ('reason' in one.outcome ? [{ ...one, outcome: one.outcome }] : [])))(
    'is told in words: $name',
    async ({ input, outcome, id }) => {
      expect((await save(id, input)).status).toBe(201);
      const began = performance.now();
      const answer = await warren.api.post(`/api/connections/${id}/discover`);
      const took = performance.now() - began;
      expect(answer).toMatchObject({ status: 502, body: { code: 'provider_unreachable', reason: outcome.reason } });
      expect(answer.body.detail).toMatch(outcome.says);
      expect(took).toBeLessThan(outcome.withinMs);
      expect(existsSync(path.join(directory, 'pwned-4711'))).toBe(false);
    },
  );

  it('tells exit code and last words of a process that exits at its start', async () => {
    await save('exits', { command: 'node', args: ['-e', 'console.error("no licence found"); process.exit(7)'] });
    const began = performance.now();
    const answer = await warren.api.post('/api/connections/exits/discover');
    expect(performance.now() - began).toBeLessThan(EXIT_MS);
    expect(answer).toMatchObject({ status: 502, body: { reason: 'process_exited' } });
    expect(answer.body.detail).toMatch(/ended during its start \(exit code 7\)/);
    expect(answer.body.detail).toContain('no licence found');
  });

  it('masks a stored secret in the last words', async () => {
    const env = { LICENCE: 'licence-0123456789' };
    await save('leaks', {
      command: 'node',
      args: ['-e', 'console.error("bad key " + process.env.LICENCE); process.exit(1)'],
      env,
    });
    const answer = await warren.api.post('/api/connections/leaks/discover');
    expect(answer.body.detail).toContain('bad key ');
    expect(JSON.stringify(answer.body)).not.toContain(env.LICENCE);
    expect(warren.log()).not.toContain(env.LICENCE);
  });

  it.each(['ephemeral', 'keep_alive'])('fails an mcp_call of a %s connection at once, in words', async (lifecycle) => {
    const fake = overFake(lifecycle, path.resolve('test/data/catalogs/server-memory.json'), '/dev/null');
    const { api } = warren;
    await api.expect(201, 'POST', '/api/connections?discover=true', { ...fake, lifecycle });
    const agent = await createAgent(api, `agent-${lifecycle}`, { [lifecycle]: ['read_graph'] });
    const call = { provider: lifecycle, tool: 'read_graph', arguments: {} };
    expect((await agent.post(`/api/agents/agent-${lifecycle}/menu/mcp_call`, call)).body.ok).toBe(true);
    await api.expect(200, 'PATCH', `/api/connections/${lifecycle}`, { command: 'no-such-binary-4711' });
    const began = performance.now();
    const { status, body } = await agent.post(`/api/agents/agent-${lifecycle}/menu/mcp_call`, call);
    expect(performance.now() - began).toBeLessThan(PROMPT_MS);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      ok: false,
      error: { code: 'mcp_provider_unreachable', reason: 'executable_not_found', sent: 'no', retryable: false },
    });
    // where it was looked for is nothing that an agent needs to know
    expect(body.error.message).toBe('no-such-binary-4711 was not found on this server.');
    for (const place of SERVICE_PATH.split(':')) expect(JSON.stringify(body)).not.toContain(`${place}:`);
    expect(body.error.hint).toMatch(/\S/);
    const { live } = await api.expect(200, 'GET', `/api/connections/${lifecycle}`);
    expect(live.processes).toBeUndefined();
  });
});
