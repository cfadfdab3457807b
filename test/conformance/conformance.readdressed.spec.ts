import { describe, expect, it } from '@jest/globals';
import { readdressed } from './conformance.readdressed.js';

const BEHIND = { provider: 'files', tools: ['read'] };

function sent(message: unknown, headers: Record<string, string> = {}) {
  const { body, ...rest } = readdressed({ headers, body: Buffer.from(JSON.stringify(message)) }, BEHIND);
  return { message: JSON.parse(body.toString('utf8')) as unknown, headers: rest.headers };
}

function call(params: unknown) {
  return { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
}

describe('a call through the menu', () => {
  it('asks mcp_call for the tool, with everything else of the request', () => {
    const answer = sent(call({ name: 'read', arguments: { a: 1 }, _meta: { progressToken: 7 } }), {
      'mcp-name': 'read',
    });
    const args = { provider: 'files', tool: 'read', arguments: { a: 1 } };
    expect(answer.message).toEqual(call({ name: 'mcp_call', arguments: args, _meta: { progressToken: 7 } }));
    expect(answer.headers).toEqual({ 'mcp-name': 'mcp_call' });
  });

  it('leaves a header that contradicts the body as it is', () => {
    expect(sent(call({ name: 'read' }), { 'mcp-name': 'other' }).headers).toEqual({ 'mcp-name': 'other' });
  });

  it.each([
    ['a tool of the menu', call({ name: 'mcp_providers' })],
    ['an unknown tool', call({ name: 'write' })],
    ['a call without a name', call({})],
    ['another method', { jsonrpc: '2.0', id: 1, method: 'prompts/get', params: { name: 'read' } }],
    ['a batch', [call({ name: 'read' })]],
  ])('does not touch %s', (_name, message) => {
    expect(sent(message).message).toEqual(message);
  });

  it('does not touch what is no JSON', () => {
    const body = Buffer.from('{"method":');
    expect(readdressed({ headers: {}, body }, BEHIND).body).toBe(body);
  });
});
