import { existsSync, readFileSync } from 'node:fs';

/** A line of a fake provider's log: an event of its own, or a message or request it received. */
export interface CaseLogEntry {
  pid: number;
  event?: string;
  /** JSON-RPC method, or `response`. */
  recv?: string;
  /** HTTP method. */
  http?: string;
  headers?: Record<string, string>;
  id?: number | string | null;
  params?: Record<string, any>;
  result?: unknown;
  error?: unknown;
  /** Of further processes that it started. */
  child?: number;
  requestId?: unknown;
}

export function readCaseLog(file: string): CaseLogEntry[] {
  if (!existsSync(file)) return [];
  // the last line may be half written
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as CaseLogEntry);
}

/** How often each event, JSON-RPC method and `http:<METHOD>` occurs. */
export function countsOf(entries: readonly CaseLogEntry[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { event, recv, http } of entries) {
    for (const key of [event, recv, http === undefined ? undefined : `http:${http}`]) {
      if (key !== undefined) counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  }
  return counts;
}

/** The calls of a tool that arrived. */
export function callsOf(entries: readonly CaseLogEntry[], tool: string): CaseLogEntry[] {
  return entries.filter(({ recv, params }) => recv === 'tools/call' && params?.['name'] === tool);
}
