import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { resolve } from 'node:path';
import type { Api } from './support/api.js';
import { startWarren, type TestWarren } from './support/warren.js';

describe('the menu over a real provider', () => {
  let warren: TestWarren;
  let agent: Api;

  beforeAll(async () => {
    warren = await startWarren();
    const { api } = warren;
    await api.expect(201, 'POST', '/api/connections?discover=true', {
      id: 'everything',
      name: 'Everything',
      transport: 'stdio',
      command: process.execPath,
      args: [resolve('node_modules/@modelcontextprotocol/server-everything/dist/index.js'), 'stdio'],
      lifecycle: 'keep_alive',
    });
    await api.expect(201, 'POST', '/api/agents', { id: 'demo', name: 'Demo' });
    await api.expect(200, 'PUT', '/api/agents/demo/mcp-tools', {
      tools: [{ connectionId: 'everything', toolName: 'get-sum' }],
    });
    const { token } = await api.expect(201, 'POST', '/api/agents/demo/tokens', {});
    agent = api.as(token);
  });

  afterAll(async () => {
    expect(await warren.stop()).toBe(0);
  });

  it('calls a granted tool and keeps a receipt', async () => {
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
});
