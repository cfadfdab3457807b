import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CaseBench, type CaseRun, type Lifecycle } from './cases.bench.js';
import { expectResult } from './cases.expectations.js';
import { readCase } from './cases.file.js';
import { countsOf, readCaseLog } from './cases.log.js';

/** The longest wait among the cases, and time to start and end; milliseconds. */
const ALL_MS = 150_000;

const planned: { number: string; lifecycle: Lifecycle }[] = [
  { number: '29', lifecycle: 'keep_alive' },
  { number: '30', lifecycle: 'keep_alive' },
  { number: '52', lifecycle: 'ephemeral' },
  { number: '52', lifecycle: 'keep_alive' },
];

/** Side by side, since nearly all of their time is waiting. */
describe('fake providers that are watched for a while', () => {
  let bench: CaseBench;
  let runs: Map<string, CaseRun>;
  const keyOf = ({ number, lifecycle }: (typeof planned)[number]) => `${number} ${lifecycle}`;

  beforeAll(async () => {
    bench = await CaseBench.start([]);
    const ran = planned.map(async (plan): Promise<[string, CaseRun]> => {
      return [keyOf(plan), await bench.run(readCase(plan.number), { lifecycle: plan.lifecycle })];
    });
    runs = new Map(await Promise.all(ran));
  }, ALL_MS);

  afterAll(async () => {
    await bench.stop();
  });

  it.each(planned)('$number ($lifecycle)', (plan) => {
    const run = runs.get(keyOf(plan));
    if (run === undefined) throw new Error('it was not run');
    expectResult(readCase(plan.number), run, { lifecycle: plan.lifecycle });
  });

  it('29: a provider that does not answer pings is not started anew', () => {
    expect(countsOf(runs.get('29 keep_alive')?.log ?? []).get('start')).toBe(1);
  });

  it('30: a provider that was stopped is not started again for what it announced', () => {
    // a refresh is at least five seconds behind the one before it; by now it would have been
    const log = readCaseLog(runs.get('30 keep_alive')?.logFile ?? '');
    expect(countsOf(log).get('start')).toBe(1);
  });
});
