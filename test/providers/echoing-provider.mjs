// A stdio MCP provider that gives away what it was told: node echoing-provider.mjs. SECRET: a value from its connection.
import { createInterface } from 'node:readline';

const secret = process.env.SECRET ?? '';
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const text = (value) => ({ content: [{ type: 'text', text: value }] });
const deep = (levels) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

const calls = {
  echo: (id, { arguments: args }) => send({ id, result: text(String(args.text)) }),
  progress: (id, { _meta }) => {
    const params = { progressToken: _meta?.progressToken, progress: 1, message: `working with ${secret}` };
    send({ method: 'notifications/progress', params });
    // a moment apart, so that the client takes one after the other
    setTimeout(() => send({ id, result: text('done') }), 100);
  },
  number: (id) => send({ id, result: { content: [], structuredContent: { pin: Number(secret), count: 12_345_678 } } }),
  deep: (id) =>
    process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":{"content":[],"structuredContent":${deep(20_000)}}}\n`),
};
const tools = Object.keys(calls).map((name) => ({ name, inputSchema: { type: 'object' } }));

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  if (method === 'initialize') {
    const serverInfo = { name: 'echoing', version: '1' };
    send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo } });
  } else if (method === 'tools/list') send({ id, result: { tools } });
  else if (method === 'tools/call') calls[params.name](id, params);
  else send({ id, error: { code: -32601, message: 'Method not found' } });
});
