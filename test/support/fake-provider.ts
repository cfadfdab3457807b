import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { canary } from '../canary/canary.js';

/** What a fake provider wrote into its FAKE_LOG. */
export interface FakeLogEntry {
  event: 'start' | 'message' | 'end';
  pid: number;
  catalog?: string;
  method?: string;
  params?: { name?: string; arguments?: Record<string, unknown> };
}

/** The settings of a connection to the fake provider that serves one recorded catalog. */
export function overFake(id: string, catalog: string, logFile: string): Record<string, unknown> {
  return {
    id,
    name: id,
    transport: 'stdio',
    command: process.execPath,
    args: [path.resolve('test/providers/catalog-provider.mjs'), catalog],
    environmentVariables: [
      { name: 'FAKE_LOG', value: logFile },
      { name: 'CANARY', value: canary(id) },
    ],
  };
}

export function readFakeLog(logFile: string): FakeLogEntry[] {
  if (!existsSync(logFile)) return [];
  const lines = readFileSync(logFile, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as FakeLogEntry);
}

/** How many processes of it were ever started. */
export function startsIn(logFile: string): number {
  return readFakeLog(logFile).filter(({ event }) => event === 'start').length;
}
