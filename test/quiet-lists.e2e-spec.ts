import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Api } from './support/api.js';
import { eventually } from './support/eventually.js';
import { overFake, startsIn } from './support/fake-provider.js';
import { providersOf } from './support/processes.js';
import { createAgent } from './support/real-providers.js';
import { startWarren, type TestWarren } from './support/warren.js';

const CATALOG = path.resolve('test/data/catalogs/server-memory.json');

describe('looking around starts nothing', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'warren-quiet-'));
  const logFile = path.join(directory, 'provider.log');
  let warren: TestWarren;
  let agent: Api;
  let startsBefore: number;

  beforeAll(async () => {
    warren = await startWarren();
    for (const lifecycle of ['ephemeral', 'keep_alive']) {
      const settings = { ...overFake(lifecycle, CATALOG, logFile), lifecycle };
      await warren.api.expect(201, 'POST', '/api/connections?discover=true', settings);
    }
    await warren.api.expect(200, 'POST', '/api/connections/keep_alive/stop');
    await eventually(() => expect(providersOf(warren.process.pid)).toEqual([]));
    agent = await createAgent(warren.api, 'demo', { ephemeral: ['read_graph'], keep_alive: ['read_graph'] });
    expect(startsIn(logFile)).toBeGreaterThanOrEqual(2);
  });

  afterAll(async () => {
    expect(await warren.stop()).toBe(0);
    rmSync(directory, { recursive: true, force: true });
  });

  beforeEach(() => {
    startsBefore = startsIn(logFile);
  });

  const expectNothingStarted = async (): Promise<void> => {
    expect(startsIn(logFile)).toBe(startsBefore);
    expect(providersOf(warren.process.pid)).toEqual([]);
    const { items } = await warren.api.expect(200, 'GET', '/api/connections');
    for (const { live } of items) expect(live.processes).toBeUndefined();
  };

  it.each([
    '/api/connections',
    '/api/connections?query=memory&enabled=true',
    '/api/connections/ephemeral',
    '/api/connections/keep_alive',
    '/api/connections/keep_alive/tools',
    '/api/connections/keep_alive/tools?query=graph',
    '/api/connections/keep_alive/events',
    '/api/connections/export',
    '/api/agents',
    '/api/agents/demo',
    '/api/agents/demo/mcp-tools',
    '/api/agents/demo/tokens',
    '/api/grants',
    '/api/grants?connectionId=keep_alive',
    '/api/calls',
  ])('GET %s', async (url) => {
    await warren.api.expect(200, 'GET', url);
    await expectNothingStarted();
  });

  it.each([
    ['mcp_providers', {}],
    ['mcp_providers', { query: 'keep' }],
    ['mcp_capabilities', {}],
    ['mcp_capabilities', { query: 'read the knowledge graph' }],
    ['mcp_capabilities', { provider: 'keep_alive' }],
  ])('%s %j as the agent', async (tool, body) => {
    const answer = await agent.expect(200, 'POST', `/api/agents/demo/menu/${tool}`, body);
    expect(answer.providers ?? answer.tools).not.toHaveLength(0);
    await expectNothingStarted();
  });

  it('says that providers nobody has started are available', async () => {
    const { providers } = await agent.expect(200, 'POST', '/api/agents/demo/menu/mcp_providers', {});
    expect(providers).toMatchObject([
      { available: true, catalogToolCount: 9, grantedToolCount: 1 },
      { available: true, catalogToolCount: 9, grantedToolCount: 1 },
    ]);
  });

  it('the same over /mcp', async () => {
    const client = new Client({ name: 'quiet', version: '1' });
    const requestInit = { headers: { authorization: `Bearer ${agent.token}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', warren.url), { requestInit }));
    try {
      expect((await client.listTools()).tools).toHaveLength(3);
      await client.callTool({ name: 'mcp_providers', arguments: {} });
      await client.callTool({ name: 'mcp_capabilities', arguments: { query: 'read the graph' } });
    } finally {
      await client.close();
    }
    await expectNothingStarted();
  });

  it('while a call does start one', async () => {
    const call = { provider: 'keep_alive', tool: 'read_graph', arguments: {} };
    expect((await agent.post('/api/agents/demo/menu/mcp_call', call)).body).toMatchObject({ ok: true });
    expect(startsIn(logFile)).toBe(startsBefore + 1);
    expect(providersOf(warren.process.pid)).toHaveLength(1);
  });
});
