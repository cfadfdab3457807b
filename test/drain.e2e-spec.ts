import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { agentClients } from './support/agent-clients.js';
import type { Api } from './support/api.js';
import { eventually } from './support/eventually.js';
import { providersOf } from './support/processes.js';
import { createAgent, overStdio } from './support/real-providers.js';
import { startWarren, type TestWarren } from './support/warren.js';

const SLOW = { provider: 'everything', tool: 'trigger-long-running-operation', arguments: { duration: 2, steps: 4 } };
const DONE = 'Long running operation completed. Duration: 2 seconds, Steps: 4.';

describe('a server that is told to stop', () => {
  let warren: TestWarren;
  let agent: Api;
  let stopped: Promise<number | null> | undefined;

  beforeEach(async () => {
    warren = await startWarren();
    stopped = undefined;
  });

  afterEach(async () => {
    expect(await (stopped ?? warren.stop())).toBe(0);
    expect(providersOf(warren.process.pid)).toEqual([]);
  });

  const prepare = async (lifecycle: 'keep_alive' | 'ephemeral'): Promise<void> => {
    const settings = { ...overStdio('everything', 'everything', 'stdio'), lifecycle };
    await warren.api.expect(201, 'POST', '/api/connections?discover=true', settings);
    agent = await createAgent(warren.api, 'demo', { everything: [SLOW.tool] });
  };

  const whenRunning = (): Promise<void> =>
    eventually(async () => {
      const { body } = await warren.api.get('/api/calls?agentId=demo');
      expect(body.items).toMatchObject([{ state: 'running' }]);
    });

  it.each(['keep_alive', 'ephemeral'] as const)('lets an admitted call of a %s session finish', async (lifecycle) => {
    await prepare(lifecycle);
    const answer = agent.post('/api/agents/demo/menu/mcp_call', SLOW);
    await whenRunning();
    stopped = warren.stop();
    expect((await answer).body).toMatchObject({ ok: true, content: [{ text: DONE }] });
    expect(await stopped).toBe(0);
  });

  it('lets a call over /mcp finish, its progress included', async () => {
    await prepare('keep_alive');
    const client = await agentClients['SDK 2 (legacy era)'](warren.url, agent.token ?? '');
    const heard: number[] = [];
    const answer = client.call('mcp_call', SLOW, { onprogress: ({ progress }) => heard.push(progress) });
    await whenRunning();
    stopped = warren.stop();
    expect((await answer).content).toMatchObject([{ text: DONE }]);
    expect(heard).toContain(3);
    await client.close();
  });

  it('does not wait for clients that connect while it stops and say nothing', async () => {
    const { hostname, port } = new URL(warren.url);
    let connected = 0;
    const knock = (): void => {
      const socket = connect(Number(port), hostname, () => (connected += 1));
      // until nobody listens any more
      socket.on('error', () => undefined).on('close', (failed) => failed || setImmediate(knock));
    };
    for (let clients = 0; clients < 16; clients += 1) knock();
    await eventually(() => Promise.resolve(expect(connected).toBeGreaterThanOrEqual(16)));
    stopped = warren.stop();
    expect(await stopped).toBe(0);
    expect(warren.log()).not.toContain('kept the server from closing');
  });

  it('says first that it is not ready, and accepts no new work meanwhile', async () => {
    await prepare('keep_alive');
    const answer = agent.post('/api/agents/demo/menu/mcp_call', SLOW);
    await whenRunning();
    expect(await warren.api.get('/health/ready')).toMatchObject({ status: 200 });
    stopped = warren.stop();
    await eventually(async () =>
      expect(await warren.api.get('/health/ready')).toMatchObject({ status: 503, body: { failing: 'shutting_down' } }),
    );
    expect(await warren.api.get('/health/live')).toMatchObject({ status: 200 });
    for (const path of ['/api/agents/demo/menu/mcp_call', '/mcp', '/nowhere']) {
      const refused = await agent.post(path, SLOW);
      expect(refused).toMatchObject({ status: 503, body: { code: 'shutting_down' } });
      expect(refused.headers.get('retry-after')).toBe('1');
    }
    expect((await answer).body.ok).toBe(true);
    expect(await stopped).toBe(0);
    await expect(fetch(`${warren.url}/health/live`)).rejects.toThrow('fetch failed');
  });
});
