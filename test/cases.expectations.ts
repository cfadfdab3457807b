import { expect } from '@jest/globals';
import type { SeenCall } from './cases.answer.js';
import type { CaseRun, RunOptions, SeenDiscovery } from './cases.bench.js';
import type { ExpectedCall, ExpectedDiscovery, FaultCase } from './cases.file.js';
import { countsOf } from './cases.log.js';

/** How much later than the deadline set an answer may come on a loaded machine, milliseconds. */
const LATE_MS = 8_000;

/** Asserts every field of a case's `expectResult`, and the deadlines that the run set. */
export function expectResult(fault: FaultCase, run: CaseRun, { bounds = {} }: RunOptions): void {
  const { discover = {}, calls, log = {}, processes } = fault.expected;
  const last = run.discoveries.at(-1);
  if (last === undefined) throw new Error('nothing was discovered');
  expectDiscovery({ ok: true, ...discover }, last);
  if (!last.ok && bounds['connectTimeoutMs'] !== undefined) expectKept(last.ms, bounds['connectTimeoutMs']);
  for (const [at, expected] of calls.entries()) {
    const seen = run.calls[at];
    if (seen === undefined) throw new Error(`call ${at} was not made`);
    expectCall(expected, seen);
    if (seen.outcome === 'timeout' && bounds['callTimeoutMs'] !== undefined) {
      expectKept(seen.ms, bounds['callTimeoutMs']);
    }
  }
  const counts = countsOf(run.log);
  for (const [key, maximum] of Object.entries(log.maxCount ?? {})) {
    const count = counts.get(key) ?? 0;
    expect({ key, count: Math.max(count, maximum), seen: count }).toEqual({ key, count: maximum, seen: count });
  }
  for (const key of log.neverEvents ?? []) expect([...counts.keys()]).not.toContain(key);
  for (const key of log.sawEvents ?? []) expect([...counts.keys()]).toContain(key);
  if (processes?.pidsFromLog !== undefined) expect([...counts.keys()]).toContain(processes.pidsFromLog);
  expect(run.leftAlive.slice(processes?.maxAlive ?? 0)).toEqual([]);
}

function expectKept(ms: number, deadline: number): void {
  expect(ms).toBeGreaterThanOrEqual(deadline - 1);
  expect(ms).toBeLessThan(deadline + LATE_MS);
}

function expectDiscovery(expected: ExpectedDiscovery, seen: SeenDiscovery): void {
  const { ok, tools, toolsInclude = [], toolsExclude = [], maxTools, maxMs, errorMatches, errorExcludes } = expected;
  expect({ ok: [ok].flat().includes(seen.ok), answer: seen.answer }).toEqual({ ok: true, answer: seen.answer });
  if (seen.ok && tools !== undefined) expect(seen.tools.toSorted()).toEqual(tools.toSorted());
  expect(seen.tools).toEqual(expect.arrayContaining(toolsInclude));
  for (const tool of toolsExclude) expect(seen.tools).not.toContain(tool);
  if (maxTools !== undefined) expect(seen.tools.length).toBeLessThanOrEqual(maxTools);
  if (maxMs !== undefined) expect(seen.ms).toBeLessThanOrEqual(maxMs);
  if (seen.ok) return;
  if (errorMatches !== undefined) expect(seen.detail).toMatch(patternOf(errorMatches));
  for (const text of errorExcludes ?? []) expect(seen.answer).not.toContain(text);
}

export function expectCall(expected: ExpectedCall, seen: SeenCall): void {
  const { outcome, text, ms } = seen;
  expect({ fits: expected.outcome.includes(outcome), outcome, text }).toEqual({ fits: true, outcome, text });
  if (expected.textEquals !== undefined) expect(text).toBe(expected.textEquals);
  if (expected.textNotEquals !== undefined) expect(text).not.toBe(expected.textNotEquals);
  for (const part of [expected.textIncludes ?? []].flat()) expect(text).toContain(part);
  for (const part of [expected.textExcludes ?? []].flat()) expect(text).not.toContain(part);
  if (expected.textMatches !== undefined) expect(text).toMatch(patternOf(expected.textMatches));
  if (expected.minTextLength !== undefined) expect(text.length).toBeGreaterThanOrEqual(expected.minTextLength);
  if (expected.maxTextLength !== undefined) expect(text.length).toBeLessThanOrEqual(expected.maxTextLength);
  if (expected.maxMs !== undefined) expect(ms).toBeLessThanOrEqual(expected.maxMs);
}

function patternOf(source: string): RegExp {
  const folded = source.startsWith('(?i)');
  return new RegExp(folded ? source.slice(4) : source, folded ? 'iu' : 'u');
}
