import { expect } from '@jest/globals';
import { resolve } from 'node:path';
import type { CallReceipt } from '../../src/runtime/menu.answers.js';
import { eventually } from '../support/eventually.js';
import type { MenuBench, SeenMessage } from '../support/menu-bench.js';

export const FAULT_PROVIDER = resolve('test/providers/fault-provider.mjs');

/** Bounds of Warren that are for strangers, not for this load. */
export const UNBOUNDED = {
  WARREN_RATE_AUTH_FAILURES: '1000000',
  WARREN_RATE_REQUESTS: '1000000',
  WARREN_RATE_AGENT_CALLS: '100000',
  LOG_LEVEL: 'warn',
};

/** Settings of a connection to the fault provider over stdio. */
export function faultProvider(...modes: string[]): Record<string, unknown> {
  return { command: process.execPath, args: [FAULT_PROVIDER, 'stdio', ...modes] };
}

/** What a call was answered: `ok`, or the code of its error. */
export function outcomeOf(answer: CallReceipt): string {
  return answer.ok ? 'ok' : (answer.error?.code ?? 'no code');
}

/** The text of an answer. */
export function textOf(answer: CallReceipt): unknown {
  return answer.content[0]?.['text'];
}

/** The argument `n` of a call. */
export function numberOf({ params }: SeenMessage): number {
  const given = params?.arguments as { n?: number } | undefined;
  return given?.n ?? Number.NaN;
}

/** How often each of these occurs. */
export function tally(values: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}

/** The process that serves a connection's only session. Errors: when there is not exactly one within 10 s. */
export function servingProcess(bench: MenuBench, connectionId: string): Promise<number> {
  return eventually(async () => {
    const { live } = await bench.api.expect(200, 'GET', `/api/connections/${connectionId}`);
    expect(live).toMatchObject({ state: 'connected', processes: [{}] });
    return live.processes[0].pid as number;
  }, 10_000);
}

/** Processes of the provider that ever started. */
export async function startsOf(bench: MenuBench, connectionId: string): Promise<number> {
  return (await bench.seen(connectionId)).filter(({ event }) => event === 'start').length;
}

/** `median … ms, worst … ms` */
export function spread(times: readonly number[]): string {
  const sorted = times.toSorted((a, b) => a - b);
  const median = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  return `median ${median.toFixed(0)} ms, worst ${(sorted.at(-1) ?? Number.NaN).toFixed(0)} ms`;
}
