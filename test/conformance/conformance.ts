// `npm run conformance`: the MCP conformance suite and Inspector's command line against a real Warren's `/mcp`. Prints what
// was found; the exit code is 1 when it is not what baseline.json says. Needs Node 22.19 or newer and this folder's packages.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { menuToolNames } from '../../src/runtime/menu.definitions.js';
import { startTestServer } from '../support/test-server.js';
import { judge, type Baseline, type Outcome } from './conformance.baseline.js';
import { endJudges } from './conformance.command.js';
import { openDoor } from './conformance.door.js';
import { startHouse, type House } from './conformance.house.js';
import { eras, inspect, inspectWithout } from './conformance.inspector.js';
import { EXTENSION, listScenarios, runSuite, type ScenarioRun } from './conformance.suite.js';

/** Of everything, on a loaded machine; a quiet one of two cores needs 20 s. */
const LIMIT_MS = 150_000;
const RESULTS = process.env['CONFORMANCE_RESULTS'];

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const wrong: string[] = [];

const givenUp = new Promise<never>((_, reject) => {
  const give = (why: string) => () => reject(new Error(why));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, give(`stopped by ${signal}`));
  setTimeout(give('not finished in time'), LIMIT_MS).unref();
});
// heard of when the house stands
givenUp.catch(() => undefined);

const home = RESULTS ?? (await mkdtemp(path.join(tmpdir(), 'warren-conformance-')));
const stopServer = await startTestServer();
try {
  const house = await startHouse();
  try {
    await Promise.race([check(house), givenUp]);
  } finally {
    endJudges();
    await house.warren.stop();
  }
} catch (error) {
  wrong.push(error instanceof Error ? error.message : String(error));
} finally {
  await stopServer();
  if (RESULTS === undefined) await rm(home, { recursive: true, force: true });
}
for (const line of wrong) say(`WRONG: ${line}`);
process.exit(wrong.length === 0 ? 0 : 1);

async function check(house: House): Promise<void> {
  const baseline = JSON.parse(await readFile(path.resolve('test/conformance/baseline.json'), 'utf8')) as Baseline;
  const runs = await runScenarios(house);
  const [judgements, missed] = judge(runs, baseline);
  say(
    `conformance suite ${baseline.suite}: scenarios that pass, pass in part, do not apply (reasons in baseline.json)`,
  );
  for (const version of new Set(runs.map((run) => run.version))) {
    const here = judgements.filter((judgement) => judgement.version === version);
    const count = (outcome: Outcome): number => here.filter((judgement) => judgement.outcome === outcome).length;
    // told apart, since the door rewrote those calls: the suite itself knows no menu
    const rewritten = here.filter(({ scenario, outcome }) => outcome === 'pass' && isRewritten(baseline, scenario));
    say(
      `  ${version}: ${here.length} run, ${count('pass')} pass (${rewritten.length} of them rewritten to mcp_call), ` +
        `${count('part')} in part, ${count('none')} do not apply`,
    );
  }
  for (const { scenario, version, wrong: words } of judgements) {
    if (words !== undefined) wrong.push(`${scenario} on ${version} ${words}`);
  }
  wrong.push(...missed.map((name) => `${name} is in the baseline and was not run`));
  await checkReceipts(house);
  await checkInspector(house);
}

function isRewritten({ scenarios }: Baseline, scenario: string): boolean {
  const expected = scenarios[scenario];
  return expected !== undefined && 'through' in expected;
}

async function runScenarios({ warren, agent, behind }: House): Promise<ScenarioRun[]> {
  const door = await openDoor({ warren: warren.url, token: agent.token ?? '', ...behind });
  try {
    const scenarios = await listScenarios(home);
    const versions = new Set([...scenarios.values()].flat());
    const runs: ScenarioRun[] = [];
    for (const version of [...versions].toSorted()) runs.push(...(await runSuite(door.url, version, scenarios, home)));
    if (!versions.has(EXTENSION)) wrong.push('the suite lists no extension: its listing is read wrongly');
    return runs;
  } finally {
    await door.close();
  }
}

/** Scenarios that went through `mcp_call` left receipts; each tool of the provider has some. */
async function checkReceipts({ warren, behind }: House): Promise<void> {
  for (const tool of behind.tools) {
    const calls = await warren.api.expect<{ items: unknown[] }>(200, 'GET', `/api/calls?agentId=judge&tool=${tool}`);
    if (calls.items.length === 0) wrong.push(`${tool} was not called through the menu`);
  }
}

async function checkInspector(house: House): Promise<void> {
  for (const era of eras) {
    const { tools, answer, callId } = await inspect(house, era, home);
    say(`Inspector, ${era} era: tools/list → ${tools.join(', ')}; mcp_call → "${answer}"`);
    if (tools.join() !== menuToolNames.join()) wrong.push(`Inspector does not list the menu in the ${era} era`);
    if (answer !== 'One line of text.') wrong.push(`Inspector did not get the tool's answer in the ${era} era`);
    await house.warren.api.expect(200, 'GET', `/api/calls/${callId}`);
  }
  const refused = await inspectWithout(house, home);
  say(`Inspector with an unknown token: exit code ${refused.code}`);
  if (refused.code === 0 || !refused.errors.includes('unauthenticated')) wrong.push('an unknown token is not refused');
}
