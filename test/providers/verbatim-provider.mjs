// A stdio MCP provider whose tool "say" answers with the line it is given, ID in it being the id of the call:
// node verbatim-provider.mjs
import { createInterface } from 'node:readline';

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  if (method === 'initialize') {
    const serverInfo = { name: 'verbatim', version: '1.0.0' };
    send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo } });
  } else if (method === 'tools/list')
    send({ id, result: { tools: [{ name: 'say', inputSchema: { type: 'object' } }] } });
  else process.stdout.write(`${params.arguments.raw.replaceAll('ID', id)}\n`);
});
