import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { recordedCatalogs, writtenTasks } from './recorded-catalogs.js';
import { overFake, readFakeLog } from './support/fake-provider.js';
import { createAgent } from './support/real-providers.js';
import { ScriptedAgent, type TaskRun } from './support/scripted-agent.js';
import { startWarren, type TestWarren } from './support/warren.js';

const catalogs = recordedCatalogs();

describe('an agent that knows only the three tools, before 28 providers', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'warren-tasks-'));
  const table: string[] = [];
  let warren: TestWarren;
  let agent: ScriptedAgent;

  beforeAll(async () => {
    warren = await startWarren();
    const held: Record<string, string[]> = {};
    for (const { id, path: file } of catalogs) {
      await warren.api.expect(201, 'POST', '/api/connections', overFake(id, file, logOf(id)));
    }
    const { items } = await warren.api.expect(200, 'POST', '/api/connections/discover', {});
    expect(items).toHaveLength(catalogs.length);
    for (const { id } of catalogs) held[id] = await toolNames(id);
    const api = await createAgent(warren.api, 'demo', held);
    agent = new ScriptedAgent(api, 'demo');
  }, 180_000);

  afterAll(async () => {
    process.stdout.write(`${['turns  bytes  place  chosen, task', ...table].join('\n')}\n`);
    expect(await warren.stop()).toBe(0);
    rmSync(directory, { recursive: true, force: true });
  });

  const logOf = (id: string): string => path.join(directory, `${id}.log`);

  /** Every page of the stored catalog. */
  const toolNames = async (id: string): Promise<string[]> => {
    const names: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const answer: { items: { name: string }[]; nextCursor: string | null } = await warren.api.expect(
        200,
        'GET',
        `/api/connections/${id}/tools?limit=200${page}`,
      );
      names.push(...answer.items.map(({ name }) => name));
      cursor = answer.nextCursor;
    }
    return names;
  };

  it('may use every tool of every catalog', async () => {
    const expected = catalogs.flatMap(({ pages }) => pages.flatMap(({ tools }) => tools)).length;
    const { tools } = await warren.api.expect(200, 'GET', '/api/agents/demo/mcp-tools');
    expect(catalogs).toHaveLength(28);
    expect(tools).toHaveLength(expected);
  });

  it.each([...writtenTasks('tasks'), ...writtenTasks('tasks-held-out')])(
    '$task',
    async ({ task, expect: accepted, arguments: args }) => {
      const run = await agent.solve(task, args);
      table.push(row(task, run));
      expect(accepted).toContainEqual(run.chosen);
      expect(run).toMatchObject({ ok: true, turns: 2 });
      // the provider really got exactly this call
      const last = readFakeLog(logOf(run.chosen?.provider ?? '')).findLast(({ method }) => method === 'tools/call');
      expect(last?.params).toMatchObject({ name: run.chosen?.tool, arguments: args });
      expect(last?.params?.arguments).toEqual(args);
    },
  );
});

function row(task: string, { turns, bytesSeen, place, chosen }: TaskRun): string {
  const tool = chosen === undefined ? 'none' : `${chosen.provider}/${chosen.tool}`;
  return `${String(turns).padStart(5)} ${String(bytesSeen).padStart(6)} ${String(place ?? '-').padStart(6)}  ${tool}: ${task}`;
}
