import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { CallReceipt } from '../../src/runtime/menu.answers.js';
import { eventually } from '../support/eventually.js';
import { MenuBench } from '../support/menu-bench.js';
import { providersOf } from '../support/processes.js';
import { faultProvider, outcomeOf, servingProcess, spread, startsOf, tally, textOf, UNBOUNDED } from './fault-bench.js';

const AGENTS = Array.from({ length: 200 }, (_, index) => `agent-${index}`);
/** So many prepare at once. */
const LANES = 8;
const AT_ONCE = 64;

describe('a killed provider that 200 agents wait for', () => {
  let bench: MenuBench;

  beforeAll(async () => {
    bench = await MenuBench.start(UNBOUNDED);
    await bench.connect('shared', { ...faultProvider(), maxConcurrentCalls: AT_ONCE, callTimeoutMs: 60_000 });
    const left = [...AGENTS];
    const lane = async (): Promise<void> => {
      for (let agent = left.pop(); agent !== undefined; agent = left.pop()) {
        await bench.agent(agent, ['shared/pid', 'shared/hold']);
      }
    };
    await Promise.all(Array.from({ length: LANES }, lane));
  }, 120_000);

  afterAll(async () => {
    await bench.stop();
  });

  const all = (tool: string): Promise<CallReceipt[]> =>
    Promise.all(AGENTS.map((agent) => bench.call(agent, { provider: 'shared', tool })));

  it('is started once, and each of them gets an answer', async () => {
    const killed = await servingProcess(bench, 'shared');
    const starts = await startsOf(bench, 'shared');
    process.kill(killed, 'SIGKILL');
    const answers = await all('pid');
    process.stdout.write(`200 agents right after the SIGKILL: ${JSON.stringify(tally(answers.map(outcomeOf)))}\n`);
    expect(answers).toHaveLength(AGENTS.length);
    // those who were faster than the news of its death
    const ok = answers.filter((answer) => answer.ok);
    const others = answers.filter((answer) => !answer.ok);
    for (const answer of others) expect(answer).toMatchObject({ error: { code: 'mcp_call_interrupted' } });
    expect(ok.length).toBeGreaterThan(0);
    const serving = String(await servingProcess(bench, 'shared'));
    expect(serving).not.toBe(String(killed));
    expect(tally(ok.map((answer) => String(textOf(answer))))).toEqual({ [serving]: ok.length });
    expect(await startsOf(bench, 'shared')).toBe(starts + 1);
  });

  it('in mid-call is started once when they all come again', async () => {
    const killed = await servingProcess(bench, 'shared');
    const starts = await startsOf(bench, 'shared');
    const times: number[] = [];
    let killedAt = Number.POSITIVE_INFINITY;
    const again = AGENTS.map(async (agent) => {
      const first = await bench.call(agent, { provider: 'shared', tool: 'hold' });
      times.push(performance.now() - killedAt);
      return { first, second: await bench.call(agent, { provider: 'shared', tool: 'pid' }) };
    });
    // as many as may run at once have arrived; the others wait for their turn
    await eventually(async () => expect(await bench.arrivals('shared', 'hold')).toHaveLength(AT_ONCE), 20_000);
    killedAt = performance.now();
    process.kill(killed, 'SIGKILL');
    const answers = await Promise.all(again);
    const first = answers.map((answer) => answer.first);
    const second = answers.map((answer) => answer.second);
    const [interrupted, then] = [first, second].map((each) => JSON.stringify(tally(each.map(outcomeOf))));
    process.stdout.write(
      `200 agents in mid-call of one that is killed: ${interrupted} (${spread(times)}), then ${then}\n`,
    );
    expect(tally(first.map(outcomeOf))).toEqual({ mcp_call_interrupted: AGENTS.length });
    expect(second.filter((answer) => answer.ok).length).toBeGreaterThan(0);
    // nobody's call was sent again by itself
    expect(await bench.arrivals('shared', 'hold')).toHaveLength(AT_ONCE);
    expect(await startsOf(bench, 'shared')).toBe(starts + 1);
    expect(providersOf(bench.warren.process.pid)).toHaveLength(1);
  });
});
