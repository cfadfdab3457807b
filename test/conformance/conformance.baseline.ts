import type { ScenarioRun } from './conformance.suite.js';

/** What is expected of one scenario on each of these versions. */
export type Expectation =
  | { on: string[]; expect: 'pass'; through?: 'mcp_call'; note?: string }
  /** Exactly these checks are not met, for this reason; all others of the scenario are. */
  | { on: string[]; unmet: string[]; because: string };

export interface Baseline {
  /** The version of the suite that these are the scenarios of. */
  suite: string;
  scenarios: Record<string, Expectation>;
}

/** `pass`: everything was checked and is met. `part`: something is. `none`: nothing that the scenario is about is met. */
export type Outcome = 'pass' | 'part' | 'none';

export interface Judgement {
  scenario: string;
  version: string;
  outcome: Outcome;
  /** What contradicts the baseline, in words; undefined when nothing does. */
  wrong?: string;
}

/** The suite adds it to each scenario that exchanged a message: every message of ours fits the protocol's schema. */
const WIRE = 'wire-schema-valid';
const UNMET: ReadonlySet<string> = new Set(['FAILURE', 'WARNING', 'SKIPPED']);

/** Compares what the suite found with what is written down; the second list names what was written down and not run. */
export function judge(runs: readonly ScenarioRun[], { scenarios }: Baseline): [Judgement[], string[]] {
  const judgements = runs.map((run) => judgeRun(run, scenarios[run.scenario]));
  const ran = new Set(runs.map(({ scenario, version }) => `${scenario} on ${version}`));
  const listed = Object.entries(scenarios).flatMap(([name, { on }]) => on.map((version) => `${name} on ${version}`));
  return [judgements, listed.filter((name) => !ran.has(name))];
}

function judgeRun(run: ScenarioRun, expected: Expectation | undefined): Judgement {
  const { scenario, version } = run;
  const unmet = unmetChecks(run);
  const judgement = { scenario, version, outcome: outcomeOf(run, unmet) };
  const wrong = contradiction(run, judgement.outcome, unmet, expected);
  return wrong === undefined ? judgement : { ...judgement, wrong };
}

function contradiction(
  run: ScenarioRun,
  outcome: Outcome,
  unmet: string[],
  expected: Expectation | undefined,
): string | undefined {
  if (expected === undefined || !expected.on.includes(run.version)) return 'is not in the baseline';
  if ('expect' in expected) return outcome === 'pass' ? undefined : `is to pass, but: ${told(run, unmet)}`;
  if (outcome === 'pass') return 'passes, but the baseline holds an exception';
  const more = unmet.filter((id) => !expected.unmet.includes(id));
  const fewer = expected.unmet.filter((id) => !unmet.includes(id));
  if (more.length > 0) return `does not meet more than the baseline says: ${told(run, more)}`;
  return fewer.length > 0 ? `meets what the baseline excepts: ${fewer.join(', ')}` : undefined;
}

/** An id may occur several times; one that is not met once is not met. */
function unmetChecks({ checks }: ScenarioRun): string[] {
  return [...new Set(checks.filter(({ status }) => UNMET.has(status)).map(({ id }) => id))];
}

/** A scenario that checked nothing has not passed. */
function outcomeOf({ checks }: ScenarioRun, unmet: string[]): Outcome {
  const isMet = checks.some(({ id, status }) => id !== WIRE && status === 'SUCCESS');
  if (!isMet) return 'none';
  return unmet.length === 0 ? 'pass' : 'part';
}

function told({ checks }: ScenarioRun, ids: string[]): string {
  if (ids.length === 0) return 'nothing was checked';
  return ids
    .map(
      (id) =>
        `${id} (${checks.find((check) => check.id === id && check.errorMessage)?.errorMessage ?? 'no reason told'})`,
    )
    .join('; ');
}
