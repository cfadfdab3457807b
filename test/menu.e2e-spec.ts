import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { menuTools } from '../src/runtime/menu.definitions.js';
import { agentClients, type AgentClient, type AgentClientName } from './support/agent-clients.js';
import type { Api } from './support/api.js';
import { eventually } from './support/eventually.js';
import { createAgent, overStdio } from './support/real-providers.js';
import { startWarren, type TestWarren } from './support/warren.js';

const TOOLS = [
  'echo',
  'get-sum',
  'get-tiny-image',
  'get-structured-content',
  'get-resource-reference',
  'trigger-long-running-operation',
];
const CLIENTS = Object.keys(agentClients) as AgentClientName[];

describe('the menu over a real provider', () => {
  let warren: TestWarren;
  let agent: Api;
  let other: Api;

  beforeAll(async () => {
    warren = await startWarren();
    const settings = { ...overStdio('everything', 'everything', 'stdio'), name: 'Everything', lifecycle: 'keep_alive' };
    await warren.api.expect(201, 'POST', '/api/connections?discover=true', settings);
    agent = await createAgent(warren.api, 'demo', { everything: TOOLS });
    other = await createAgent(warren.api, 'other', {});
  });

  afterAll(async () => {
    expect(await warren.stop()).toBe(0);
  });

  it('calls a granted tool over REST and keeps a receipt', async () => {
    const { body } = await agent.post('/api/agents/demo/menu/mcp_call', {
      provider: 'everything',
      tool: 'get-sum',
      arguments: { a: 1, b: 2 },
    });
    expect(body).toMatchObject({
      ok: true,
      content: [{ type: 'text', text: 'The sum of 1 and 2 is 3.' }],
      provider: { id: 'everything', name: 'Everything' },
    });
    const receipt = await warren.api.expect(200, 'GET', `/api/calls/${body.callId}`);
    expect(receipt).toMatchObject({
      ok: true,
      state: 'finished',
      actor: { kind: 'agent', id: 'demo' },
      sent: 'yes',
      grantRevision: 1,
    });
  });

  it('answers tools/list in the same bytes to every agent', async () => {
    const [first, second] = await Promise.all([listBytes(agent), listBytes(other)]);
    expect(second).toBe(first);
    for (const { name, description } of menuTools)
      expect(first).toContain(JSON.stringify({ name, description }).slice(1, -1).split(',"')[0]);
  });

  it('lists the same tools to every client', async () => {
    const lists: string[] = [];
    for (const name of CLIENTS) {
      const client = await agentClients[name](warren.url, agent.token ?? '');
      lists.push(JSON.stringify(await client.tools()));
      await client.close();
    }
    expect(new Set(lists).size).toBe(1);
    expect(JSON.parse(lists[0] ?? '')).toMatchObject(
      menuTools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
    );
  });

  describe.each(CLIENTS)('with %s', (name) => {
    let client: AgentClient;

    beforeAll(async () => {
      client = await agentClients[name](warren.url, agent.token ?? '');
    });

    afterAll(() => client.close());

    const use = (
      tool: string,
      args: Record<string, unknown>,
      options?: Parameters<AgentClient['call']>[2],
    ): ReturnType<AgentClient['call']> =>
      client.call('mcp_call', { provider: 'everything', tool, arguments: args }, options);

    it('finds a tool and calls it', async () => {
      const found = await client.call('mcp_capabilities', { query: 'add two numbers' });
      const { tools } = JSON.parse(found.content[0]?.text ?? '') as {
        tools: { provider: string; name: string; granted: boolean }[];
      };
      expect(tools[0]).toMatchObject({ provider: 'everything', name: 'get-sum', granted: true });
      const answer = await use('get-sum', { a: 19, b: 23 });
      expect(answer.content).toEqual([{ type: 'text', text: 'The sum of 19 and 23 is 42.' }]);
      expect(answer.isError ?? false).toBe(false);
      expect(answer._meta).toMatchObject({ 'warren/callId': expect.stringMatching(/^call_/) });
    });

    it('gets images and structured content as such', async () => {
      expect((await use('get-tiny-image', {})).content).toMatchObject([
        { type: 'text' },
        { type: 'image', mimeType: 'image/png' },
        { type: 'text' },
      ]);
      const { structuredContent } = await use('get-structured-content', { location: 'New York' });
      expect(structuredContent).toMatchObject({ temperature: 33 });
    });

    it('reads a failure first, then what the provider said', async () => {
      const { isError, content } = await use('get-resource-reference', { resourceId: -1 });
      expect(isError).toBe(true);
      expect(JSON.parse(content[0]?.text ?? '')).toMatchObject({ code: 'mcp_tool_failed', sent: 'yes' });
      expect(content[1]?.text).toContain('Invalid resourceId');
      const ungranted = await use('get-env', {});
      expect(ungranted.isError).toBe(true);
      expect(JSON.parse(ungranted.content[0]?.text ?? '')).toMatchObject({ code: 'mcp_tool_not_granted', sent: 'no' });
    });

    it('is told the progress of a long call', async () => {
      const heard: number[] = [];
      const { content } = await use(
        'trigger-long-running-operation',
        { duration: 1, steps: 4 },
        { onprogress: ({ progress }) => heard.push(progress) },
      );
      expect(content[0]?.text).toContain('Long running operation completed');
      expect(heard.length).toBeGreaterThanOrEqual(2);
      expect(heard).toEqual(heard.toSorted((a, b) => a - b));
    });

    it('cancels a call, which ends at once and disturbs no other', async () => {
      const cancelling = new AbortController();
      const long = use('trigger-long-running-operation', { duration: 20, steps: 2 }, { signal: cancelling.signal });
      const failure = long.then(
        () => undefined,
        (error: unknown) => error,
      );
      const beside = use('trigger-long-running-operation', { duration: 1, steps: 2 });
      const running = await eventually(async () => {
        const { items } = await warren.api.expect(200, 'GET', '/api/calls?agentId=demo&limit=2');
        expect(items).toMatchObject([{ state: 'running' }, { state: 'running' }]);
        return items as { callId: string; argumentPreview: string }[];
      });
      const callId = running.find(({ argumentPreview }) => argumentPreview.includes('20'))?.callId ?? '';
      cancelling.abort();
      expect(await failure).toBeInstanceOf(Error);
      await eventually(async () => {
        const receipt = await warren.api.expect(200, 'GET', `/api/calls/${callId}`);
        expect(receipt).toMatchObject({ state: 'finished', ok: false, code: 'mcp_call_cancelled' });
        expect(receipt.durationMs).toBeLessThan(5_000);
      }, 3_000);
      expect((await beside).content[0]?.text).toContain('completed');
      expect((await use('echo', { message: 'after' })).content).toMatchObject([{ text: 'Echo: after' }]);
    });
  });

  describe('after a restart', () => {
    let before: string;

    beforeEach(async () => {
      before = await listBytes(agent);
    });

    it('lists the same bytes', async () => {
      const again = await startWarren({ database: warren.database, adminKey: warren.adminKey });
      try {
        expect(await listBytes(other, again.url)).toBe(before);
      } finally {
        await again.stop();
      }
    });
  });
});

/** The body of a bare `tools/list`, as an old client sends it. */
async function listBytes(agent: Api, url = agent.url): Promise<string> {
  const response = await fetch(new URL('/mcp', url), {
    method: 'POST',
    headers: {
      authorization: `Bearer ${agent.token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  });
  expect(response.status).toBe(200);
  return response.text();
}
