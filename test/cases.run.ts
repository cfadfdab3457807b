import { afterAll, beforeAll, it } from '@jest/globals';
import { CaseBench, type CaseRun, type Lifecycle } from './cases.bench.js';
import { expectResult } from './cases.expectations.js';
import { readCase, type FaultCase } from './cases.file.js';

/** A case in the suite: its number, and what is particular about running it here. */
export interface PlannedCase {
  number: string;
  /** Shorter deadlines where the case waits for one. */
  bounds?: Record<string, number>;
  /** Why one lifecycle alone makes sense, where its file does not say so. */
  onlyEphemeral?: string;
  /** What its sentence claims beyond `expectResult`. */
  claims?: (run: CaseRun, bench: CaseBench, lifecycle: Lifecycle) => void | Promise<void>;
}

/** Runs these cases against one Warren, each in both lifecycles unless it needs one; the bench for further tests. */
export function runCases(planned: readonly PlannedCase[]): () => CaseBench {
  const cases = planned.map((plan) => ({ plan, fault: readCase(plan.number) }));
  let bench: CaseBench;

  beforeAll(async () => {
    bench = await CaseBench.start(cases.map(({ fault }) => fault));
  });

  afterAll(async () => {
    await bench.stop();
  });

  const runs = cases.flatMap(({ plan, fault }) =>
    lifecyclesOf(plan, fault).map((lifecycle) => ({ name: `${fault.id} (${lifecycle})`, plan, fault, lifecycle })),
  );

  it.each(runs)('$name', async ({ plan, fault, lifecycle }) => {
    const options = { lifecycle, ...(plan.bounds === undefined ? {} : { bounds: plan.bounds }) };
    const run = await bench.run(fault, options);
    expectResult(fault, run, options);
    await plan.claims?.(run, bench, lifecycle);
  });

  return () => bench;
}

function lifecyclesOf({ onlyEphemeral }: PlannedCase, { lifecycle }: FaultCase): Lifecycle[] {
  if (lifecycle !== undefined) return [lifecycle];
  return onlyEphemeral === undefined ? ['ephemeral', 'keep_alive'] : ['ephemeral'];
}
