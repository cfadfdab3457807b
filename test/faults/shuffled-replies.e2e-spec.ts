import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { MenuBench, type SeenMessage } from '../support/menu-bench.js';
import { verifyCount } from '../support/verify-count.js';
import {
  FAULT_PROVIDER,
  faultProvider,
  numberOf,
  outcomeOf,
  startsOf,
  tally,
  textOf,
  UNBOUNDED,
} from './fault-bench.js';

/** Of each transport; both together are 20,000 in the long form. */
const CALLS = verifyCount(1_000, 50);
const SEED = process.env['WARREN_VERIFY_SEED'] ?? '1';
const CALLERS = 40;
const AGENTS = ['first', 'second', 'third', 'fourth'];

describe('a provider that answers concurrent calls in an order of chance', () => {
  let bench: MenuBench;
  let web: ChildProcess;

  beforeAll(async () => {
    bench = await MenuBench.start(UNBOUNDED);
    const shared = { maxConcurrentCalls: 64, callTimeoutMs: 60_000 };
    const seed = { name: 'SEED', value: SEED };
    const log = { name: 'FAKE_LOG', value: bench.logOf('line') };
    await bench.connect('line', { ...faultProvider(), ...shared, environmentVariables: [seed, log] });
    web = spawn(process.execPath, [FAULT_PROVIDER, 'http'], {
      env: { SEED, FAKE_LOG: bench.logOf('web') },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    // a pipe was asked for
    const [port] = (await once(createInterface({ input: web.stdout! }), 'line')) as [string];
    const settings = { id: 'web', name: 'web', transport: 'http', baseUrl: `http://127.0.0.1:${port}/mcp` };
    await bench.api.expect(201, 'POST', '/api/connections?discover=true', {
      ...settings,
      ...shared,
      lifecycle: 'keep_alive',
    });
    for (const agent of AGENTS) await bench.agent(agent, ['line/echo', 'web/echo']);
  });

  afterAll(async () => {
    await bench.stop();
    const ended = once(web, 'exit');
    web.stdin?.end();
    await ended;
  });

  it.each(['line', 'web'])(
    'gives each caller its own answer, and is sent each call once: %s',
    async (provider) => {
      let next = 0;
      const wrong: string[] = [];
      const outcomes: string[] = [];
      const caller = async (agent: string): Promise<void> => {
        while (next < CALLS) {
          const n = (next += 1);
          const answer = await bench.call(agent, { provider, tool: 'echo', arguments: { n } });
          outcomes.push(outcomeOf(answer));
          if (answer.ok && textOf(answer) !== String(n)) wrong.push(`${n} was answered ${String(textOf(answer))}`);
        }
      };
      await Promise.all(Array.from({ length: CALLERS }, (_, index) => caller(AGENTS[index % AGENTS.length] ?? '')));

      const arrivals = (await bench.arrivals(provider, 'echo')).map(numberOf);
      const overtaken = countOvertaken(arrivals, await repliesOf(provider));
      process.stdout.write(
        `${provider}, seed ${SEED}: ${CALLS} calls, ${overtaken} answered after a later one, ` +
          `to the wrong caller ${wrong.length}, sent twice ${arrivals.length - new Set(arrivals).size}\n`,
      );
      expect(tally(outcomes)).toEqual({ ok: CALLS });
      expect(wrong).toEqual([]);
      expect(arrivals.toSorted((a, b) => a - b)).toEqual(Array.from({ length: CALLS }, (_, index) => index + 1));
      expect(await startsOf(bench, provider)).toBe(1);
      // the order was one of chance
      expect(overtaken).toBeGreaterThan(CALLS / 10);
    },
    60_000 + CALLS * 50,
  );

  async function repliesOf(provider: string): Promise<number[]> {
    const seen = (await bench.seen(provider)) as (SeenMessage | { event: 'reply'; n: number })[];
    return seen.flatMap((entry) => (entry.event === 'reply' ? [entry.n] : []));
  }
});

/** How many were answered after one that had arrived later. */
function countOvertaken(arrivals: readonly number[], replies: readonly number[]): number {
  const places = new Map(arrivals.map((n, place) => [n, place]));
  let latest = -1;
  let overtaken = 0;
  for (const n of replies) {
    const place = places.get(n) ?? -1;
    if (place < latest) overtaken += 1;
    latest = Math.max(latest, place);
  }
  return overtaken;
}
