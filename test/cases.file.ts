import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

export const outcomes = ['ok', 'tool_error', 'provider_error', 'timeout', 'refused'] as const;
export type Outcome = (typeof outcomes)[number];

export interface CaseCall {
  tool: string;
  arguments?: unknown;
}

export interface ExpectedDiscovery {
  ok?: boolean | boolean[];
  tools?: string[];
  toolsInclude?: string[];
  toolsExclude?: string[];
  maxTools?: number;
  maxMs?: number;
  errorMatches?: string;
  errorExcludes?: string[];
}

export interface ExpectedCall {
  outcome: Outcome[];
  textEquals?: string;
  textNotEquals?: string;
  textIncludes?: string | string[];
  textExcludes?: string | string[];
  textMatches?: string;
  minTextLength?: number;
  maxTextLength?: number;
  maxMs?: number;
}

export interface ExpectedResult {
  discover?: ExpectedDiscovery;
  calls: ExpectedCall[];
  log?: { maxCount?: Record<string, number>; neverEvents?: string[]; sawEvents?: string[] };
  processes?: { aliveAfterCloseMs: number; maxAlive: number; pidsFromLog?: string };
  soakMs?: number;
}

export interface FaultCase {
  id: string;
  title: string;
  transport: 'stdio' | 'http';
  launch: { args: string[]; env: Record<string, string> };
  connection: Record<string, unknown>;
  connections: (Record<string, unknown> & { want: string })[];
  hostEnv: Record<string, string>;
  grants: string[] | undefined;
  lifecycle: 'keep_alive' | undefined;
  discoverTimes: number;
  concurrent: boolean;
  calls: CaseCall[];
  expected: ExpectedResult;
}

const ROOT = 'test/cases';

export function serverOf(id: string): string {
  return path.resolve(ROOT, id, 'server.mjs');
}

export function caseIds(): string[] {
  return readdirSync(ROOT)
    .filter((name) => /^\d{2}-/.test(name))
    .toSorted();
}

/** The case whose folder begins with this number. Errors: a field of its file that no test looks at. */
export function readCase(number: string): FaultCase {
  const id = caseIds().find((name) => name.startsWith(`${number}-`));
  if (id === undefined) throw new Error(`there is no case ${number}`);
  return parseCase(id, JSON.parse(readFileSync(path.join(ROOT, id, 'case.json'), 'utf8')));
}

type Fields = Record<string, any>;

const CASE = `id title source kind transport expect launch connection connections hostEnv grants lifecycle discoverTimes
  concurrent call calls expectResult`;
const RESULT = 'discover call calls log processes soakMs';
const DISCOVERY = 'ok tools toolsInclude toolsExclude maxTools maxMs errorMatches errorExcludes';
const CALL = 'outcome textEquals textNotEquals textIncludes textExcludes textMatches minTextLength maxTextLength maxMs';

export function parseCase(id: string, file: Fields): FaultCase {
  only(id, file, CASE);
  if (file.id !== id) throw new Error(`${id}: its file says that it is ${String(file.id)}`);
  only(`${id}.launch`, file.launch, 'args env');
  const expected: Fields = file.expectResult;
  only(`${id}.expectResult`, expected, RESULT);
  only(`${id}.expectResult.discover`, expected.discover, DISCOVERY);
  only(`${id}.expectResult.log`, expected.log, 'maxCount neverEvents sawEvents');
  only(`${id}.expectResult.processes`, expected.processes, 'aliveAfterCloseMs maxAlive pidsFromLog');
  const expectedCalls: ExpectedCall[] = listOf(expected.call, expected.calls);
  for (const [at, call] of expectedCalls.entries()) only(`${id}.expectResult.calls[${at}]`, call, CALL);
  const calls: CaseCall[] = listOf(file.call, file.calls);
  for (const [at, call] of calls.entries()) only(`${id}.calls[${at}]`, call, 'tool arguments');
  // a call that only has to be made says nothing of its answer (34 and 65, whose best outcome is asserted beside)
  if (expectedCalls.length !== 0 && expectedCalls.length !== calls.length) {
    throw new Error(`${id}: ${calls.length} calls, but ${expectedCalls.length} expectations`);
  }
  const unknown = expectedCalls.flatMap(({ outcome }) => outcome).find((outcome) => !outcomes.includes(outcome));
  if (unknown !== undefined) throw new Error(`${id}: there is no outcome ${unknown}`);
  return {
    id,
    title: file.title,
    transport: file.transport,
    launch: { args: file.launch?.args ?? [], env: file.launch?.env ?? {} },
    connection: file.connection ?? {},
    connections: file.connections ?? [],
    hostEnv: file.hostEnv ?? {},
    grants: file.grants,
    lifecycle: file.lifecycle,
    discoverTimes: file.discoverTimes ?? 1,
    concurrent: file.concurrent ?? false,
    calls,
    expected: { ...(expected as Omit<ExpectedResult, 'calls'>), calls: expectedCalls },
  };
}

function listOf<T>(one: T | undefined, many: T[] | undefined): T[] {
  return many ?? (one === undefined ? [] : [one]);
}

function only(where: string, fields: object | undefined, known: string): void {
  const names = known.split(/\s+/);
  const unknown = Object.keys(fields ?? {}).filter((name) => !names.includes(name));
  if (unknown.length > 0) throw new Error(`${where}: unknown fields ${unknown.join(', ')}`);
}
