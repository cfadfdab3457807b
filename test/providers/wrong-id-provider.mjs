// A stdio MCP provider that does not answer as it was asked: node wrong-id-provider.mjs
// "astray" answers with ids of nobody, "constant" with the id of the handshake, "unformed" with an error of no form.
// The call itself stays unanswered but for "unformed".
import { createInterface } from 'node:readline';

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const result = { content: [{ type: 'text', text: 'for someone else' }] };
const tools = ['astray', 'constant', 'unformed', 'silent'].map((name) => ({ name, inputSchema: { type: 'object' } }));
let handshake;

const calls = {
  astray: () => [true, '', ' 1 ', [1], 987_654, 'zzz'].forEach((id) => send({ id, result })),
  constant: () => send({ id: handshake, result }),
  unformed: (id) => send({ id, error: 'it is broken' }),
  silent: () => {},
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  if (method === 'initialize') {
    handshake = id;
    const serverInfo = { name: 'wrong-id', version: '1.0.0' };
    send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo } });
  } else if (method === 'tools/list') send({ id, result: { tools } });
  else calls[params.name](id);
});
