// A stdio MCP provider that gives its KEY away wherever it says something: in the error of the request that FAILING
// names (a method), in every other answer, and in several forms on standard error.
import { createInterface } from 'node:readline';

const key = process.env.KEY ?? '';
const forms = [key, Buffer.from(key).toString('base64'), Buffer.from(key).toString('hex'), encodeURIComponent(key)];
const said = `the key ${forms.join(' or ')} is not right`;
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const tools = [{ name: 'ok', description: said, inputSchema: { type: 'object' } }];

process.stderr.write(`${said}\n`);
createInterface({ input: process.stdin }).on('line', (line) => {
  if (line.trim() === '') return;
  const { id, method, params } = JSON.parse(line);
  if (id === undefined || method === undefined) return;
  if (method === process.env.FAILING) send({ id, error: { code: -32_603, message: said, data: { said } } });
  else if (method === 'initialize') {
    const serverInfo = { name: said, version: said };
    send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo } });
  } else if (method === 'tools/list') send({ id, result: { tools } });
  else send({ id, error: { code: -32_601, message: said } });
});
