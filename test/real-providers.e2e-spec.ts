import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Api } from './support/api.js';
import { eventually } from './support/eventually.js';
import { overFake, readFakeLog, startsIn } from './support/fake-provider.js';
import { startHttpProvider, type HttpProvider } from './support/http-provider.js';
import { providersOf } from './support/processes.js';
import { createAgent, overStdio } from './support/real-providers.js';
import { startWarren, type TestWarren } from './support/warren.js';

const LIFECYCLES = ['ephemeral', 'keep_alive'] as const;
const TRANSPORTS = ['stdio', 'streamableHttp', 'sse'] as const;
const MATRIX = TRANSPORTS.flatMap((transport) => LIFECYCLES.map((lifecycle) => ({ transport, lifecycle })));

describe('real servers through Warren', () => {
  const directory = realpathSync(mkdtempSync(path.join(tmpdir(), 'warren-real-')));
  let warren: TestWarren;
  let providers: Record<'streamableHttp' | 'sse', HttpProvider>;

  beforeAll(async () => {
    const [streamableHttp, sse] = await Promise.all([startHttpProvider('streamableHttp'), startHttpProvider('sse')]);
    providers = { streamableHttp, sse };
    warren = await startWarren();
  });

  afterAll(async () => {
    expect(await warren.stop()).toBe(0);
    expect(providersOf(warren.process.pid)).toEqual([]);
    await Promise.all([providers.streamableHttp.stop(), providers.sse.stop()]);
    rmSync(directory, { recursive: true, force: true });
  });

  /** Saves, discovers and grants every tool to one agent of its own. */
  const prepare = async (
    settings: Record<string, unknown>,
  ): Promise<(tool: string, args?: Record<string, unknown>) => Promise<any>> => {
    const id = String(settings['id']);
    await warren.api.expect(201, 'POST', '/api/connections?discover=true', settings);
    const { items } = await warren.api.expect(200, 'GET', `/api/connections/${id}/tools?limit=200`);
    expect(items.length).toBeGreaterThan(0);
    const agentId = `of-${id}`;
    const agent: Api = await createAgent(warren.api, agentId, {
      [id]: items.map(({ name }: { name: string }) => name),
    });
    return async (tool, args = {}) => {
      const body = { provider: id, tool, arguments: args };
      return agent.expect(200, 'POST', `/api/agents/${agentId}/menu/mcp_call`, body);
    };
  };

  const processesOf = async (id: string): Promise<number[]> => {
    const { live } = await warren.api.expect(200, 'GET', `/api/connections/${id}`);
    return (live.processes ?? []).map(({ pid }: { pid: number }) => pid);
  };

  describe.each(MATRIX)('server-everything over $transport, $lifecycle', ({ transport, lifecycle }) => {
    const id = `everything-${transport}-${lifecycle}`;
    let call: Awaited<ReturnType<typeof prepare>>;

    beforeAll(async () => {
      const endpoint =
        transport === 'stdio'
          ? overStdio(id, 'everything', 'stdio')
          : { id, name: id, transport: 'http', baseUrl: providers[transport].url };
      call = await prepare({ ...endpoint, lifecycle });
    });

    it('knows who it is and what it offers', async () => {
      const { catalog } = await warren.api.expect(200, 'GET', `/api/connections/${id}`);
      expect(catalog).toMatchObject({ serverName: 'mcp-servers/everything', warnings: [] });
      expect(catalog.toolCount).toBeGreaterThanOrEqual(12);
      expect(catalog.protocolVersion).toMatch(/^20\d\d-\d\d-\d\d$/);
    });

    it('passes text', async () => {
      expect(await call('echo', { message: 'grüße 🌍' })).toMatchObject({
        ok: true,
        isError: false,
        content: [{ type: 'text', text: 'Echo: grüße 🌍' }],
        protection: { status: 'clean' },
      });
    });

    it('passes an image as an image', async () => {
      const { ok, content } = await call('get-tiny-image');
      expect(ok).toBe(true);
      expect(content).toMatchObject([{ type: 'text' }, { type: 'image', mimeType: 'image/png' }, { type: 'text' }]);
      expect(Buffer.from(content[1].data, 'base64').subarray(1, 4).toString()).toBe('PNG');
    });

    it('passes resource links and embedded resources', async () => {
      const { content: links } = await call('get-resource-links', { count: 2 });
      expect(links).toMatchObject([
        { type: 'text' },
        { type: 'resource_link', mimeType: 'text/plain' },
        { type: 'resource_link' },
      ]);
      const { content: embedded } = await call('get-resource-reference', { resourceType: 'Text', resourceId: 1 });
      expect(embedded[1]).toMatchObject({ type: 'resource', resource: { mimeType: 'text/plain' } });
    });

    it('passes structured content', async () => {
      expect(await call('get-structured-content', { location: 'Chicago' })).toMatchObject({
        ok: true,
        structuredContent: { temperature: 36, conditions: 'Light rain / drizzle', humidity: 82 },
      });
    });

    it("tells a tool's own failure with its words", async () => {
      const receipt = await call('get-resource-reference', { resourceType: 'Text', resourceId: -1 });
      expect(receipt).toMatchObject({ ok: false, isError: true, error: { code: 'mcp_tool_failed', sent: 'yes' } });
      expect(receipt.error.message).toContain('Invalid resourceId: -1');
    });

    it('repairs wrong arguments before anything is sent', async () => {
      const receipt = await call('get-sum', { a: 'one' });
      expect(receipt).toMatchObject({ ok: false, error: { code: 'mcp_arguments_invalid', sent: 'no' } });
      expect(receipt.error.errors.map(({ path: at }: { path: string }) => at).toSorted()).toEqual([
        'arguments.a',
        'arguments.b',
      ]);
      expect(receipt.error.inputSchema).toMatchObject({ required: ['a', 'b'] });
    });

    it('keeps one session, or opens one for each call', async () => {
      const first = await call('toggle-simulated-logging');
      const second = await call('toggle-simulated-logging');
      expect(first.content[0].text).toMatch(/^Started/);
      expect(second.content[0].text).toMatch(lifecycle === 'keep_alive' ? /^Stopped/ : /^Started/);
    });

    it('leaves as many processes as its lifecycle says', async () => {
      await call('echo', { message: 'x' });
      const expected = transport === 'stdio' && lifecycle === 'keep_alive' ? 1 : 0;
      await eventually(async () => expect(await processesOf(id)).toHaveLength(expected));
    });
  });

  it.each(LIFECYCLES)('server-filesystem, %s', async (lifecycle) => {
    const call = await prepare({ ...overStdio(`files-${lifecycle}`, 'filesystem', directory), lifecycle });
    const file = path.join(directory, `${lifecycle}.txt`);
    expect(await call('write_file', { path: file, content: 'one\ntwo\n' })).toMatchObject({ ok: true });
    expect(await call('read_text_file', { path: file, head: 1 })).toMatchObject({
      ok: true,
      content: [{ text: 'one' }],
    });
    const { content } = await call('list_directory', { path: directory });
    expect(content[0].text).toContain(`[FILE] ${lifecycle}.txt`);
    const outside = await call('read_text_file', { path: '/etc/hostname' });
    expect(outside).toMatchObject({ ok: false, isError: true, error: { code: 'mcp_tool_failed' } });
    expect(outside.error.message).toMatch(/outside allowed directories/);
  });

  it.each(LIFECYCLES)('server-memory, %s', async (lifecycle) => {
    const id = `memory-${lifecycle}`;
    const environmentVariables = [{ name: 'MEMORY_FILE_PATH', value: path.join(directory, `${id}.jsonl`) }];
    const call = await prepare({ ...overStdio(id, 'memory'), environmentVariables, lifecycle });
    const kept = lifecycle === 'keep_alive' ? await processesOf(id) : [];
    expect(kept).toHaveLength(lifecycle === 'keep_alive' ? 1 : 0);
    const entities = [{ name: 'Ada', entityType: 'person', observations: ['works at Acme'] }];
    expect(await call('create_entities', { entities })).toMatchObject({ ok: true });
    const { structuredContent } = await call('read_graph');
    expect(structuredContent).toEqual({ entities, relations: [] });
    await eventually(async () => expect(await processesOf(id)).toEqual(kept));
  });

  it('starts one process for 10 first calls at once of a keep_alive connection', async () => {
    const id = 'ten-at-once';
    const logFile = path.join(directory, `${id}.log`);
    const catalog = path.resolve('test/data/catalogs/server-memory.json');
    const call = await prepare({ ...overFake(id, catalog, logFile), lifecycle: 'keep_alive' });
    await warren.api.expect(200, 'POST', `/api/connections/${id}/stop`);
    const before = startsIn(logFile);
    const receipts = await Promise.all(Array.from({ length: 10 }, () => call('read_graph')));
    expect(receipts.map(({ ok }) => ok)).toEqual(Array.from({ length: 10 }, () => true));
    expect(startsIn(logFile)).toBe(before + 1);
    expect(await processesOf(id)).toHaveLength(1);
  });

  it('starts a fresh process for each of 10 calls at once of an ephemeral connection, and leaves none', async () => {
    const id = 'ten-ephemeral';
    const logFile = path.join(directory, `${id}.log`);
    const call = await prepare(overFake(id, path.resolve('test/data/catalogs/server-memory.json'), logFile));
    const before = startsIn(logFile);
    const receipts = await Promise.all(Array.from({ length: 10 }, () => call('read_graph')));
    expect(receipts.every(({ ok }) => ok)).toBe(true);
    expect(startsIn(logFile)).toBe(before + 10);
    const callers = readFakeLog(logFile).filter(({ method }) => method === 'tools/call');
    expect(new Set(callers.map(({ pid }) => pid)).size).toBe(10);
    await eventually(async () => expect(await processesOf(id)).toEqual([]));
  });

  it('starts a real keep_alive server once for 10 first calls at once', async () => {
    const id = 'everything-stdio-keep_alive';
    const agent = warren.api;
    await agent.expect(200, 'POST', `/api/connections/${id}/stop`);
    const calls = Array.from({ length: 10 }, (_, a) =>
      agent.expect(200, 'POST', `/api/agents/of-${id}/menu/mcp_call`, {
        provider: id,
        tool: 'get-sum',
        arguments: { a, b: 1 },
      }),
    );
    const texts = (await Promise.all(calls)).map(({ content }) => content[0].text);
    expect(texts).toEqual(Array.from({ length: 10 }, (_, a) => `The sum of ${a} and 1 is ${a + 1}.`));
    expect(await processesOf(id)).toHaveLength(1);
  });
});
