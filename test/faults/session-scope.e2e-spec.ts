import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdir } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { CallReceipt } from '../../src/runtime/menu.answers.js';
import { eventually } from '../support/eventually.js';
import { MenuBench } from '../support/menu-bench.js';
import { processesIn } from '../support/processes.js';
import { temporaryDataDirectory } from '../support/temporary-data-directory.js';
import { faultProvider, outcomeOf, tally, textOf, UNBOUNDED } from './fault-bench.js';

const TOOLS = ['pid', 'hold', 'put', 'get'];
const AGENTS = Array.from({ length: 12 }, (_, index) => `agent-${index}`);
const [A = '', B = '', C = '', D = ''] = AGENTS;
const CALLERS = 50;
const MOST = 3;
const SAMPLE_MS = 50;
/** How long a caller told `busy` waits, less than it is told, for more of a crowd. */
const AGAIN_MS = 200;
const TRIES = 200;

describe('a keep_alive connection', () => {
  let bench: MenuBench;
  /** All providers work in here. */
  let directory: string;

  beforeAll(async () => {
    directory = temporaryDataDirectory();
    bench = await MenuBench.start(UNBOUNDED);
    const connections = ['common', 'own', 'few', 'crowd', 'renewed', 'ended', 'left', 'asked'];
    for (const id of connections) {
      const scope = id === 'common' ? {} : { sessionScope: 'agent' };
      const bound = id === 'few' ? { maxSessions: 2 } : id === 'crowd' ? { maxSessions: MOST } : {};
      const cwd = `${directory}/${id}`;
      await mkdir(cwd);
      await bench.connect(id, { ...faultProvider(), callTimeoutMs: 60_000, cwd, ...scope, ...bound });
      // discovery has a session of its own
      await bench.api.expect(200, 'POST', `/api/connections/${id}/stop`);
    }
    const grants = connections.flatMap((id) => TOOLS.map((tool) => `${id}/${tool}`));
    for (const agent of AGENTS) await bench.agent(agent, grants);
  });

  afterAll(async () => {
    await bench.stop();
    expect(processesIn(directory)).toEqual([]);
  });

  const call = (agent: string, provider: string, tool: string, args: Record<string, unknown> = {}) =>
    bench.call(agent, { provider, tool, arguments: args });
  const textFor = async (...args: Parameters<typeof call>) => textOf(await call(...args));
  const processesOf = (id: string) => processesIn(`${directory}/${id}`).map(({ pid }) => pid);
  /** Begins a call that keeps its session in use; resolves when it has arrived. */
  async function hold(agent: string, provider: string) {
    const before = (await bench.arrivals(provider, 'hold')).length;
    const begun = bench.begin(agent, { provider, tool: 'hold' });
    await eventually(async () => expect(await bench.arrivals(provider, 'hold')).toHaveLength(before + 1), 10_000);
    return async (): Promise<void> => {
      begun.leave();
      await begun.left;
    };
  }

  it('is shared by its agents', async () => {
    expect(await textFor(A, 'common', 'put', { text: 'of a' })).toBe('of a');
    expect(await textFor(B, 'common', 'get')).toBe('of a');
    expect(await textFor(A, 'common', 'pid')).toBe(await textFor(B, 'common', 'pid'));
    expect(processesOf('common')).toHaveLength(1);
  });

  it('of scope agent has a process for each agent, which no other one gets to see', async () => {
    const kept = await Promise.all([A, B, C].map((agent) => textFor(agent, 'own', 'put', { text: `of ${agent}` })));
    expect(kept).toEqual([A, B, C].map((agent) => `of ${agent}`));
    expect(await Promise.all([A, B, C, D].map((agent) => textFor(agent, 'own', 'get')))).toEqual([...kept, 'nothing']);
    const pids = await Promise.all([A, B, C, D].map((agent) => textFor(agent, 'own', 'pid')));
    expect(processesOf('own').map(String).toSorted()).toEqual(pids.map(String).toSorted());
    const { live } = await bench.api.expect(200, 'GET', '/api/connections/own');
    expect(live.processes).toHaveLength(4);
  });

  it('starts one process for an agent, however many of its calls come at once', async () => {
    const pids = await Promise.all(Array.from({ length: 10 }, () => textFor(AGENTS[5] ?? '', 'own', 'pid')));
    expect(new Set(pids).size).toBe(1);
  });

  it('is busy when all its sessions are in use, and says when to come again', async () => {
    const leave = [await hold(A, 'few'), await hold(B, 'few')];
    const refused = await call(C, 'few', 'pid');
    expect(refused).toMatchObject({ ok: false, error: { code: 'busy', sent: 'no', retryable: true } });
    expect(refused.error?.retryAfterMs).toBeGreaterThan(0);
    // those who have one may use it
    expect(await textFor(A, 'few', 'get')).toBe('nothing');
    for (const each of leave) await each();
    await eventually(async () => expect(await call(C, 'few', 'pid')).toMatchObject({ ok: true }));
    expect(processesOf('few').length).toBeLessThanOrEqual(2);
    await bench.api.expect(200, 'POST', '/api/connections/few/stop');
  });

  it('ends the session that was idle for longest to make room, never one in use', async () => {
    const first = await textFor(A, 'few', 'pid');
    const second = await textFor(B, 'few', 'pid');
    await textFor(A, 'few', 'put', { text: 'kept' });
    // B was here longest ago
    const third = await textFor(C, 'few', 'pid');
    expect(new Set([first, second, third]).size).toBe(3);
    expect(await textFor(A, 'few', 'get')).toBe('kept');
    expect(processesOf('few').map(String).toSorted()).toEqual([first, third].map(String).toSorted());
    // A was here last, but C is at work
    const leave = await hold(C, 'few');
    await textFor(A, 'few', 'get');
    await textFor(D, 'few', 'pid');
    expect(await textFor(A, 'few', 'get')).toBe('nothing');
    expect(await textFor(C, 'few', 'pid')).toBe(third);
    await leave();
  });

  it(`never has more processes than sessions are allowed, with ${CALLERS} callers of 12 agents`, async () => {
    const load = { isOver: false };
    let samples = 0;
    let most = 0;
    const told: number[] = [];
    const sampling = (async () => {
      while (!load.isOver) {
        samples += 1;
        const { live } = await bench.api.expect(200, 'GET', '/api/connections/crowd');
        told.push(live.processes?.length ?? 0);
        most = Math.max(most, processesOf('crowd').length);
        await delay(SAMPLE_MS);
      }
    })();
    const outcomes: string[] = [];
    const caller = async (agent: string): Promise<CallReceipt> => {
      for (let tries = 0; ; tries += 1) {
        const answer = await call(agent, 'crowd', 'pid');
        outcomes.push(outcomeOf(answer));
        if (outcomeOf(answer) !== 'busy' || tries === TRIES) return answer;
        await delay(AGAIN_MS);
      }
    };
    const answers = await Promise.all(
      Array.from({ length: CALLERS }, (_, index) => caller(AGENTS[index % AGENTS.length] ?? '')),
    );
    load.isOver = true;
    await sampling;
    process.stdout.write(
      `${CALLERS} callers of ${AGENTS.length} agents, at most ${MOST} sessions: at most ${most} processes in ` +
        `${samples} looks, ${Math.max(...told)} as told; ${JSON.stringify(tally(outcomes))}\n`,
    );
    expect(tally(answers.map(outcomeOf))).toEqual({ ok: CALLERS });
    expect(most).toBe(MOST);
    expect(Math.max(...told)).toBeLessThanOrEqual(MOST);
  }, 120_000);

  it('renews every session when its launch settings change', async () => {
    const agents = [A, B, C];
    const before = await Promise.all(agents.map((agent) => textFor(agent, 'renewed', 'pid')));
    await bench.change('renewed', { environmentVariables: [{ name: 'SEED', value: 'another-seed-value' }] });
    const after = await Promise.all(agents.map((agent) => textFor(agent, 'renewed', 'pid')));
    expect(new Set([...before, ...after]).size).toBe(6);
    await eventually(() => expect(processesOf('renewed').map(String).toSorted()).toEqual(after.map(String).toSorted()));
  });

  it('ends every session when it is disabled', async () => {
    await Promise.all([A, B, C].map((agent) => textFor(agent, 'ended', 'pid')));
    expect(processesOf('ended')).toHaveLength(3);
    const leave = await hold(A, 'ended');
    const before = Date.now();
    await bench.change('ended', { enabled: false });
    await eventually(() => expect(processesOf('ended')).toEqual([]));
    expect(outcomeOf(await call(A, 'ended', 'pid'))).toBe('mcp_provider_not_available');
    const { live } = await bench.api.expect(200, 'GET', '/api/connections/ended');
    expect(live.state).toBe('closed');
    expect(Date.parse(live.since)).toBeGreaterThanOrEqual(before);
    await leave();
  });

  it('of scope agent keeps nothing of an agent that is gone for one that gets its id', async () => {
    await bench.agent('leaving', ['left/put', 'left/get', 'left/pid']);
    const pid = await textFor('leaving', 'left', 'pid');
    await textFor('leaving', 'left', 'put', { text: 'of the first' });
    await bench.api.expect(204, 'DELETE', '/api/agents/leaving');
    await bench.agent('leaving', ['left/put', 'left/get', 'left/pid']);
    expect(await textFor('leaving', 'left', 'get')).toBe('nothing');
    await eventually(() => expect(processesOf('left').map(String)).not.toContain(pid));
    expect(processesOf('left')).toHaveLength(1);
    await bench.api.expect(200, 'PATCH', '/api/agents/leaving', { enabled: false });
    await eventually(() => expect(processesOf('left')).toEqual([]));
  });

  it('of scope agent is discovered without taking an agent its session', async () => {
    await bench.change('asked', { maxSessions: 1 });
    await textFor(A, 'asked', 'put', { text: 'kept' });
    await bench.api.expect(200, 'POST', '/api/connections/asked/discover');
    const leave = await hold(A, 'asked');
    await bench.api.expect(200, 'POST', '/api/connections/asked/discover');
    await leave();
    expect(await textFor(A, 'asked', 'get')).toBe('kept');
    await eventually(() => expect(processesOf('asked')).toHaveLength(1));
  });
});
