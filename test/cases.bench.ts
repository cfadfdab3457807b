import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { readAnswer, type SeenCall } from './cases.answer.js';
import { serverOf, type CaseCall, type FaultCase } from './cases.file.js';
import { readCaseLog, type CaseLogEntry } from './cases.log.js';
import { startCaseProvider } from './cases.provider.js';
import { agentClients } from './support/agent-clients.js';
import type { Api } from './support/api.js';
import { eventually } from './support/eventually.js';
import { isAlive, processesIn, providersOf } from './support/processes.js';
import { createAgent } from './support/real-providers.js';
import { temporaryDataDirectory } from './support/temporary-data-directory.js';
import { startWarren, type TestWarren } from './support/warren.js';

export type Lifecycle = 'ephemeral' | 'keep_alive';

export interface SeenDiscovery {
  ok: boolean;
  ms: number;
  /** The whole answer, as text. */
  answer: string;
  /** What an operator reads when it failed. */
  detail: string;
  warnings: { tool?: string; code: string; message: string }[];
  /** Names in the stored catalog afterwards. */
  tools: string[];
}

/** What happened when a case was run. */
export interface CaseRun {
  connectionId: string;
  agentId: string;
  discoveries: SeenDiscovery[];
  calls: SeenCall[];
  /** What its providers saw until it was closed; they may go on writing to the file. */
  log: CaseLogEntry[];
  logFile: string;
  /** Process ids of its providers that were still alive when the time given was over. */
  leftAlive: number[];
}

/** How a case is run here. */
export interface RunOptions {
  lifecycle: Lifecycle;
  /** Settings of the connection beside those of the case; shorter deadlines, so that waiting for them is quick. */
  bounds?: Record<string, number>;
}

/** A real Warren, and what the cases need of it. */
export class CaseBench {
  readonly directory = temporaryDataDirectory();
  private runs = 0;

  private constructor(readonly warren: TestWarren) {}

  /** With the environment that the cases want of their host; the database of a server under test is its own. */
  static async start(cases: readonly FaultCase[]): Promise<CaseBench> {
    const { DATABASE_URL: _given, ...environment } = Object.assign({}, ...cases.map(({ hostEnv }) => hostEnv));
    return new CaseBench(await startWarren({ environment }));
  }

  get api(): Api {
    return this.warren.api;
  }

  /** Ends all, and checks that no process of any case is left. */
  async stop(): Promise<void> {
    try {
      await allEnded(() => providersOf(this.warren.process.pid));
    } finally {
      await this.warren.stop();
    }
    await allEnded(() => processesIn(this.directory));
  }

  /** An id and a directory of their own for one run. */
  place(fault: FaultCase): { connectionId: string; directory: string; logFile: string } {
    this.runs += 1;
    const connectionId = `${fault.id}.${this.runs}`;
    const directory = path.join(this.directory, connectionId);
    mkdirSync(directory);
    return { connectionId, directory, logFile: path.join(directory, 'fake.log') };
  }

  /** Settings of a connection to a stdio case; relative paths in them are in a directory of this run. */
  stdioSettings(fault: FaultCase, directory: string, logFile: string): Record<string, unknown> {
    const environment = { ...fault.launch.env, FAKE_LOG: logFile };
    return {
      transport: 'stdio',
      command: process.execPath,
      args: [serverOf(fault.id), ...fault.launch.args],
      environmentVariables: Object.entries(environment).map(([name, value]) => ({ name, value })),
      cwd: directory,
    };
  }

  /** Saves, discovers, grants, calls as the agent over `/mcp`, waits as told, closes, and looks for what is left. */
  async run(fault: FaultCase, { lifecycle, bounds = {} }: RunOptions): Promise<CaseRun> {
    const { connectionId, directory, logFile } = this.place(fault);
    const provider = fault.transport === 'http' ? await startCaseProvider(fault.id, logFile) : undefined;
    try {
      const settings =
        provider === undefined
          ? this.stdioSettings(fault, directory, logFile)
          : { transport: 'http', baseUrl: provider.url, ...fault.connection };
      const connection = { id: connectionId, name: connectionId, lifecycle, ...bounds, ...settings };
      await this.api.expect(201, 'POST', '/api/connections', connection);
      const discoveries: SeenDiscovery[] = [await this.discover(connectionId)];
      const agentId = `agent.${connectionId}`;
      const agent = await this.agent(agentId, connectionId, fault, discoveries[0]?.tools ?? []);
      while (discoveries.length < fault.discoverTimes) discoveries.push(await this.discover(connectionId));
      const calls = await this.callAs(agent, connectionId, fault);
      await delay(fault.expected.soakMs ?? 0);
      if (lifecycle === 'keep_alive') await this.api.expect(200, 'POST', `/api/connections/${connectionId}/stop`);
      const leftAlive = await this.leftAlive(fault, logFile, provider?.pid);
      return { connectionId, agentId, discoveries, calls, log: readCaseLog(logFile), logFile, leftAlive };
    } finally {
      await provider?.stop();
    }
  }

  async discover(connectionId: string): Promise<SeenDiscovery> {
    const began = performance.now();
    const { status, body } = await this.api.post(`/api/connections/${connectionId}/discover`);
    const ms = performance.now() - began;
    if (![200, 502, 504].includes(status)) throw new Error(`discovery answered ${status}: ${JSON.stringify(body)}`);
    return {
      ok: status === 200,
      ms,
      answer: JSON.stringify(body),
      detail: body.detail ?? '',
      warnings: body.warnings ?? [],
      tools: await this.toolNames(connectionId),
    };
  }

  async toolNames(connectionId: string): Promise<string[]> {
    const names: string[] = [];
    let cursor: string | null = '';
    do {
      const after: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const page = await this.api.expect(200, 'GET', `/api/connections/${connectionId}/tools?limit=200${after}`);
      names.push(...page.items.map(({ name }: { name: string }) => name));
      cursor = page.nextCursor;
    } while (cursor !== null);
    return names;
  }

  /** A new agent that holds what the case grants, by default the tools it calls, as far as the catalog has them. */
  agent(id: string, connectionId: string, fault: FaultCase, catalog: string[]): Promise<Api> {
    const called = [...new Set(fault.calls.map(({ tool }) => tool))].filter((tool) => catalog.includes(tool));
    return createAgent(this.api, id, { [connectionId]: fault.grants ?? called });
  }

  /** The calls of a case over `/mcp`, side by side where it says so. */
  async callAs({ token = '' }: Api, connectionId: string, fault: FaultCase): Promise<SeenCall[]> {
    const client = await agentClients['SDK 2 (2026-07-28)'](this.warren.url, token);
    const call = async ({ tool, arguments: args }: CaseCall): Promise<SeenCall> => {
      const began = performance.now();
      const asked = { provider: connectionId, tool, ...(args === undefined ? {} : { arguments: args }) };
      const answer = await client.call('mcp_call', asked);
      return readAnswer(answer, performance.now() - began);
    };
    try {
      if (fault.concurrent) return await Promise.all(fault.calls.map(call));
      const seen: SeenCall[] = [];
      for (const one of fault.calls) seen.push(await call(one));
      return seen;
    } finally {
      await client.close();
    }
  }

  /** The session was closed just now. */
  private async leftAlive(fault: FaultCase, logFile: string, ours: number | undefined): Promise<number[]> {
    const { aliveAfterCloseMs = 5_000, pidsFromLog, maxAlive = 0 } = fault.expected.processes ?? {};
    const alive = (): number[] => {
      const entries = readCaseLog(logFile);
      const named = entries.flatMap(({ event, child }) => (event === pidsFromLog && child ? [child] : []));
      return [...new Set([...entries.map(({ pid }) => pid), ...named])].filter((pid) => pid !== ours && isAlive(pid));
    };
    await allEnded(() => alive().slice(maxAlive), aliveAfterCloseMs).catch(() => undefined);
    return alive();
  }
}

/** Until none of these processes is left. Errors: those that are, after a while. */
function allEnded(look: () => readonly unknown[], withinMs?: number): Promise<void> {
  return eventually(() => {
    const left = look();
    if (left.length > 0) throw new Error(`still alive: ${JSON.stringify(left)}`);
  }, withinMs);
}
