import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { CallAnswer } from '../../src/runtime/calls.dto.js';
import { eventually } from '../support/eventually.js';
import { providersOf } from '../support/processes.js';
import { randomNumbers } from '../support/random-numbers.js';
import { AGENTS, CONNECTIONS, type CrashBench, startCrashBench } from './crash-bench.js';
import { countArrivals, judge, rowsSince } from './crash-evidence.js';
import { callOnce, CrashLoad } from './crash-load.js';

/** 4, or 50 in the long form. */
const KILLS = Math.ceil(Number(process.env['WARREN_VERIFY_COUNT'] ?? 15) / 4);
const SEED = Number(process.env['WARREN_VERIFY_SEED'] ?? 1);
/** The longest a kill is put off once all callers are running, milliseconds. */
const JITTER_MS = 500;
/** One kill with its load, restart and judgement, on a loaded machine, milliseconds. */
const KILL_MS = 30_000;
/** A process that is not heard of for 20 s counts as dead; another looks every 5 s. */
const INTERRUPTED_WITHIN_MS = 60_000;

describe('a Warren that is killed under load', () => {
  let bench: CrashBench;
  const random = randomNumbers(SEED);
  const figures = {
    kills: 0,
    calls: 0,
    'cut off': 0,
    arrivals: 0,
    'arrivals without a row': 0,
    'sent twice': 0,
    'untrue receipts': 0,
    'recorded as interrupted': 0,
    orphans: 0,
  };
  const restarts: number[] = [];
  let number = 100_000;
  const nextNumber = (): number => (number += 1);

  beforeAll(async () => {
    bench = await startCrashBench();
  });

  afterAll(async () => {
    const sorted = restarts.toSorted((a, b) => a - b);
    const words = Object.entries(figures).map(([name, figure]) => `${name} ${figure}`);
    process.stdout.write(
      `killed Warren, seed ${SEED}: ${words.join(', ')}; ready again after ` +
        `median ${sorted[sorted.length >> 1]} ms, worst ${sorted.at(-1)} ms\n`,
    );
    await bench.stop();
  });

  it(
    'starts again with nothing lost, nothing left behind and nothing sent twice',
    async () => {
      const before = await stateOf(bench);
      const pending: CallAnswer[] = [];
      while (figures.kills < KILLS) pending.push(...(await killOnce()));
      expect(await stateOf(bench)).toEqual(before);
      const receipts = await eventually(async () => {
        const seen = await Promise.all(pending.map(({ callId }) => bench.warren.api.get(`/api/calls/${callId}`)));
        expect(seen.filter(({ body }) => body.state !== 'finished')).toEqual([]);
        return seen.map(({ body }) => [body.ok, body.code, body.sent]);
      }, INTERRUPTED_WITHIN_MS);
      figures['recorded as interrupted'] = receipts.length;
      expect(receipts).toEqual(receipts.map(() => [false, 'mcp_call_interrupted', 'maybe']));
    },
    INTERRUPTED_WITHIN_MS + KILLS * KILL_MS,
  );

  /** Resolves with the calls that were running when Warren was killed. */
  async function killOnce(): Promise<CallAnswer[]> {
    const since = new Date().toISOString();
    const arrivalsBefore = bench.log.arrivals.length;
    const load = new CrashLoad(bench, nextNumber);
    const { process: killed } = bench.warren;
    const exited = once(killed, 'exit');
    await load.running;
    await eventually(async () => {
      await bench.log.read();
      expect(bench.log.arrivals.map(({ number: arrived }) => arrived)).toEqual(expect.arrayContaining(load.slow));
    });
    await delay(random() * JITTER_MS);
    expect(providersOf(killed.pid).length).toBeGreaterThanOrEqual(2);
    // at any moment, or else right when a call arrives, where the evidence of it is youngest
    const by = figures.kills % 2 === 0 ? undefined : CONNECTIONS[(figures.kills >> 1) % CONNECTIONS.length];
    if (by === undefined) killed.kill('SIGKILL');
    else await load.killByCall(by, killed.pid ?? 0);
    expect(await exited).toEqual([null, 'SIGKILL']);
    await load.ended;

    const asked = performance.now();
    await bench.restart();
    restarts.push(Math.round(performance.now() - asked));
    await bench.warren.api.expect(200, 'GET', '/health/ready');
    const orphans = providersOf(killed.pid);
    figures.orphans += orphans.length;
    expect(orphans).toEqual([]);
    await bench.log.mark();
    const rows = await rowsSince(bench.warren.api, since);
    const arrivals = countArrivals(bench.log.arrivals.slice(arrivalsBefore));
    const findings = judge(load.outcomes, arrivals, rows);
    figures.kills += 1;
    figures.calls += load.outcomes.size;
    figures['cut off'] += [...load.outcomes.values()].filter((outcome) => outcome === 'cut').length;
    figures.arrivals += arrivals.size;
    figures['arrivals without a row'] += findings.arrivalsWithoutRow.length;
    figures['sent twice'] += findings.sentTwice.length;
    figures['untrue receipts'] += findings.untrue.length;
    expect(findings).toEqual({ arrivalsWithoutRow: [], sentTwice: [], untrue: [] });
    expect(arrivals.size).toBeGreaterThan(load.slow.length);
    for (const connection of CONNECTIONS) {
      const call = { tool: 'record', arguments: { n: nextNumber() } };
      expect(await callOnce(bench, 'first', connection, call)).toBe('ok');
    }
    // a restart on a loaded machine may take longer than it takes to record them
    const left = [...rows].filter(([, { state, code }]) => state === 'running' || code === 'mcp_call_interrupted');
    expect(left.map(([called]) => called)).toEqual(expect.arrayContaining(load.slow));
    return left.map(([, row]) => row);
  }
});

/** What a crash must not change. */
async function stateOf({ warren: { api } }: CrashBench): Promise<unknown> {
  const grants = await Promise.all(AGENTS.map((id) => api.expect(200, 'GET', `/api/agents/${id}/mcp-tools`)));
  const tokens = await Promise.all(AGENTS.map((id) => api.expect(200, 'GET', `/api/agents/${id}/tokens`)));
  const connections = await Promise.all(CONNECTIONS.map((id) => api.expect(200, 'GET', `/api/connections/${id}`)));
  return { grants, tokens, connections: connections.map(({ catalog, revision }) => ({ catalog, revision })) };
}
