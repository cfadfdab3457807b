// An MCP provider for fault tests: node fault-provider.mjs stdio|http [mute] [litter...]
// mute: answers nothing. Litter, each started before anything else:
//   deaf: neither this process nor a child of its group hears TERM, and it stays when its input ends;
//   setsid: a child in a session of its own; deaf-setsid: one that is deaf to TERM; daemon: a deaf one, whose parent left.
// Tools: `pid` answers with the process id, `hold` never, `put` keeps `arguments.text` and `get` gives it back, `echo`
// answers with `arguments.n` after others, in an order of chance (SEED), `wait` after `arguments.ms`.
// FAKE_LOG, one JSON line each: {event: start, pid, port?}, {event: message, pid, method, params, at} and, for an answer of
// `echo`, {event: reply, n}.
import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';

const [transport, ...modes] = process.argv.slice(2);
const record = (entry) => {
  if (process.env.FAKE_LOG) appendFileSync(process.env.FAKE_LOG, `${JSON.stringify({ pid: process.pid, ...entry })}\n`);
};

const shell = (script, options = {}) => spawn('sh', ['-c', script], { stdio: 'ignore', ...options });
const litter = {
  deaf: () => {
    process.on('SIGTERM', () => {});
    setInterval(() => {}, 60_000);
    shell('trap "" TERM; exec sleep 600');
  },
  setsid: () => shell('exec sleep 600', { detached: true }),
  'deaf-setsid': () => shell('trap "" TERM; exec sleep 600', { detached: true }),
  daemon: () => shell('trap "" TERM; sleep 600 & exit 0', { detached: true }),
};
for (const mode of modes) litter[mode]?.();

const text = (value) => ({ content: [{ type: 'text', text: String(value) }] });
const inputSchema = { type: 'object' };
const tools = ['pid', 'hold', 'put', 'get', 'echo', 'wait'].map((name) => ({ name, inputSchema }));
let kept = 'nothing';

let state = Number(process.env.SEED ?? 1) >>> 0;
/** From 0 to 1, the same row for the same seed. */
const random = () => {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return state / 2 ** 32;
};
/** Calls of `echo` that wait for their answer; so many are enough to choose from. */
const waiting = [];
const CROWD = 12;
/** How long fewer wait for more, milliseconds. */
const PATIENCE_MS = 50;
let patience;
const answerByChance = () => {
  clearTimeout(patience);
  for (let left = Math.ceil(random() * waiting.length); left > 0; left -= 1) {
    const [{ n, reply }] = waiting.splice(Math.floor(random() * waiting.length), 1);
    record({ event: 'reply', n });
    reply(text(n));
  }
  if (waiting.length > 0) patience = setTimeout(answerByChance, PATIENCE_MS);
};

const calls = {
  pid: (_given, reply) => reply(text(process.pid)),
  hold: () => {},
  put: (given, reply) => reply(text((kept = given.text))),
  get: (_given, reply) => reply(text(kept)),
  wait: ({ ms }, reply) => setTimeout(() => reply(text('waited')), ms),
  echo: ({ n }, reply) => {
    const crowd = waiting.push({ n, reply });
    if (crowd === 1) patience = setTimeout(answerByChance, PATIENCE_MS);
    if (crowd >= CROWD) answerByChance();
  },
};

/** Answers a request by `reply`, now, later or never. */
function serve({ id, method, params }, reply) {
  record({ event: 'message', id, method, params, at: Date.now() });
  if (id === undefined || modes.includes('mute')) return;
  const result = (value) => reply({ jsonrpc: '2.0', id, result: value });
  if (method === 'initialize') {
    const serverInfo = { name: 'fault', version: '1.0.0' };
    result({ protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo });
  } else if (method === 'tools/list') result({ tools });
  else if (method === 'tools/call') calls[params.name](params.arguments ?? {}, result);
  else if (method === 'ping') result({});
  else reply({ jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } });
}

if (transport === 'stdio') {
  record({ event: 'start' });
  createInterface({ input: process.stdin }).on('line', (line) => {
    if (line.trim() !== '') serve(JSON.parse(line), (answer) => process.stdout.write(`${JSON.stringify(answer)}\n`));
  });
} else {
  const headers = { 'content-type': 'application/json', 'mcp-session-id': 'only' };
  const server = createServer((request, response) => {
    if (request.method !== 'POST') return response.writeHead(405).end();
    let body = '';
    request.setEncoding('utf8').on('data', (chunk) => (body += chunk));
    return request.on('end', () => {
      const message = JSON.parse(body);
      serve(message, (answer) => response.writeHead(200, headers).end(JSON.stringify(answer)));
      if (message.id === undefined) response.writeHead(202).end();
    });
  });
  server.listen(0, '127.0.0.1', () => {
    record({ event: 'start', port: server.address().port });
    process.stdout.write(`${server.address().port}\n`);
  });
  // ends with whoever started it
  process.stdin.on('end', () => process.exit(0)).resume();
}
