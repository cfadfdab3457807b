import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { resolve } from 'node:path';
import type { Api } from './support/api.js';
import { startWarren, type TestWarren } from './support/warren.js';

/** Digits only, so that it may also come back as a number. */
const SECRET = '4929123412341234';
const TOOLS = ['echo', 'progress', 'number', 'deep'];

describe('what a call leaves behind', () => {
  let warren: TestWarren;
  let agent: Api;

  beforeAll(async () => {
    warren = await startWarren();
    const { api } = warren;
    await api.expect(201, 'POST', '/api/connections?discover=true', {
      id: 'p',
      name: 'Echoing',
      transport: 'stdio',
      lifecycle: 'keep_alive',
      command: process.execPath,
      args: [resolve('test/providers/echoing-provider.mjs')],
      environmentVariables: [{ name: 'SECRET', value: SECRET }],
    });
    await api.expect(201, 'POST', '/api/agents', { id: 'demo', name: 'Demo' });
    const tools = TOOLS.map((toolName) => ({ connectionId: 'p', toolName }));
    await api.expect(200, 'PUT', '/api/agents/demo/mcp-tools', { tools });
    agent = api.as((await api.expect<{ token: string }>(201, 'POST', '/api/agents/demo/tokens', {})).token);
  });

  afterAll(async () => {
    expect(await warren.stop()).toBe(0);
  });

  const call = async (tool: string, args: Record<string, unknown> = {}) =>
    (await agent.post('/api/agents/demo/menu/mcp_call', { provider: 'p', tool, arguments: args })).body;
  const receiptOf = (callId: string) => warren.api.expect(200, 'GET', `/api/calls/${callId}`);

  it('keeps receipts of texts that are cut inside a character, and of all calls after them', async () => {
    for (let length = 170; length < 200; length += 1) {
      const { callId } = await call('echo', { text: `${'x'.repeat(length)}😀😀` });
      expect(await receiptOf(callId)).toMatchObject({ state: 'finished', ok: true });
    }
  });

  it('keeps receipts of every odd text', async () => {
    for (const text of ['a\u0000b', '\ud800', '\udfff x', '\\u0000', '"', '\u2028']) {
      const { callId } = await call('echo', { text });
      expect(await receiptOf(callId)).toMatchObject({ state: 'finished' });
    }
  });

  it('masks the token that was presented, in the answer and in the receipt', async () => {
    const receipt = await call('echo', { text: `my token is ${agent.token}` });
    expect(receipt).toMatchObject({
      content: [{ text: 'my token is [redacted]' }],
      protection: { status: 'redacted' },
    });
    const kept = await receiptOf(receipt.callId);
    expect(kept.argumentPreview).toContain('[redacted]');
    expect(JSON.stringify(kept)).not.toContain(String(agent.token).slice(20));
  });

  it('masks a secret that comes back as a number, and no other number', async () => {
    const { structuredContent } = await call('number');
    expect(structuredContent).toEqual({ pin: '[redacted]', count: 12_345_678 });
  });

  it('masks a secret in a progress message', async () => {
    const client = new Client({ name: 'agent', version: '1' });
    const headers = { authorization: `Bearer ${agent.token}` };
    await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', warren.url), { requestInit: { headers } }));
    const messages: (string | undefined)[] = [];
    await client.callTool(
      { name: 'mcp_call', arguments: { provider: 'p', tool: 'progress' } },
      { onprogress: ({ message }) => messages.push(message) },
    );
    await client.close();
    expect(messages).toEqual(['working with [redacted]']);
  });

  it('answers a result too deep to be handled, and closes its receipt', async () => {
    const { callId, error } = await call('deep');
    expect(error).toMatchObject({ code: 'mcp_protocol_error', sent: 'yes' });
    expect(await receiptOf(callId)).toMatchObject({ state: 'finished', code: 'mcp_protocol_error' });
  });
});
