import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { runJudge } from './conformance.command.js';

const SUITE = { package: '@modelcontextprotocol/conformance', command: 'conformance' };
/** Of the whole suite on one version; it takes three seconds here. */
const RUN_LIMIT_MS = 60_000;
const SCENARIO_LIMIT_MS = 15_000;

/** What belongs to no version of the protocol is run on the one the suite chooses. */
export const EXTENSION = 'extension';

export type CheckStatus = 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';

export interface Check {
  id: string;
  status: CheckStatus;
  errorMessage?: string;
}

/** What the suite found of one scenario on one version. */
export interface ScenarioRun {
  scenario: string;
  version: string;
  checks: Check[];
}

/** The server scenarios that the suite knows, each with the versions it belongs to. */
export async function listScenarios(home: string): Promise<Map<string, string[]>> {
  const { output } = await runJudge(SUITE, ['list', '--server'], home, RUN_LIMIT_MS);
  const found = output.matchAll(/^ {2}- (\S+) \[([^\]]+)\]$/gm);
  return new Map([...found].map(([, scenario = '', versions = '']) => [scenario, versions.split(',')]));
}

/** Runs every server scenario of one version. Errors: when one that belongs to it left no result. */
export async function runSuite(
  url: string,
  version: string,
  scenarios: ReadonlyMap<string, string[]>,
  home: string,
): Promise<ScenarioRun[]> {
  const results = path.join(home, `results-${version}`);
  const only = version === EXTENSION ? [] : ['--spec-version', version];
  const bounds = ['--output-dir', results, '--timeout', String(SCENARIO_LIMIT_MS)];
  const { errors } = await runJudge(
    SUITE,
    ['server', '--url', url, '--suite', 'all', ...only, ...bounds],
    home,
    RUN_LIMIT_MS,
  );
  const folders = await readdir(results).catch(() => [] as string[]);
  const expected = [...scenarios].filter(([, versions]) => versions.includes(version)).map(([scenario]) => scenario);
  const runs: ScenarioRun[] = [];
  for (const scenario of expected) {
    const folder = folders.find((name) => name.replace(/-\d{4}-\d{2}-\d{2}T.*$/, '') === `server-${scenario}`);
    if (folder === undefined) throw new Error(`${scenario} left no result on ${version}:\n${errors}`);
    const checks = JSON.parse(await readFile(path.join(results, folder, 'checks.json'), 'utf8')) as Check[];
    runs.push({ scenario, version, checks });
  }
  return runs;
}
