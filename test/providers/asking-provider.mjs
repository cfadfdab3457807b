// A stdio MCP provider that asks more than it listens: node asking-provider.mjs <log>
// "ask" sends `count` pings as fast as they are taken and reads nothing meanwhile, but again after `deafMs`, if given; it
// answers when all its pings are answered. The log holds how many pings were sent, a line each time it had to wait.
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const tools = ['ask', 'ok'].map((name) => ({ name, inputSchema: { type: 'object' } }));
const text = (value) => ({ content: [{ type: 'text', text: String(value) }] });
let answered = 0;
let whenAnswered = () => {};

function ask(id, { count, deafMs }) {
  process.stdin.pause();
  if (deafMs !== undefined) setTimeout(() => process.stdin.resume(), deafMs);
  let sent = 0;
  const go = () => {
    let hasRoom = true;
    while (hasRoom && sent < count) hasRoom = send({ id: `ping-${sent++}`, method: 'ping' });
    appendFileSync(process.argv[2], `${sent}\n`);
    if (sent < count) process.stdout.once('drain', go);
  };
  whenAnswered = () => {
    if (answered === count) send({ id, result: text(answered) });
  };
  go();
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') {
    const serverInfo = { name: 'asking', version: '1.0.0' };
    send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo } });
  } else if (method === 'tools/list') send({ id, result: { tools } });
  else if (method === 'tools/call') {
    if (params.name === 'ask') ask(id, params.arguments);
    else send({ id, result: text('ok') });
  } else if (method === undefined) {
    answered += 1;
    whenAnswered();
  }
});
