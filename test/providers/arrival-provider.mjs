// An MCP provider that writes down what reaches it, and in which order: node arrival-provider.mjs stdio|http [stubborn]
// Lines of the file FAKE_LOG, each appended by one write: {pid, started: port}, {pid, head: n} (the head of the n-th HTTP
// request is there), {pid, arrived: number, head?} (a tools/call with `arguments.n`), {pid, cancelled: number} (by a
// notification, or the HTTP request aborted), {pid, marker: id} (GET /marker/<id> on the port, on either transport).
// Tools: `record` and `spare` answer at once, `slow` never does. A call with `arguments.kills` (a process id) ends that
// process by SIGKILL the moment it is there. `stubborn` after the transport: deaf to TERM and to the end of its input.
import { openSync, writeSync } from 'node:fs';
import { createServer } from 'node:http';

const [transport, temper] = process.argv.slice(2);
const log = openSync(process.env.FAKE_LOG, 'a');
const record = (entry) => writeSync(log, `${JSON.stringify({ pid: process.pid, ...entry })}\n`);

const inputSchema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
const tools = ['record', 'spare', 'slow'].map((name) => ({ name, inputSchema }));
/** Numbers of the slow calls that run, by session and request id. */
const running = new Map();
let heads = 0;
let sessions = 0;

/** The answer to a request, or undefined for one that stays without. */
function answer({ id, method, params }, session, head) {
  switch (method) {
    case 'initialize': {
      const { protocolVersion } = params;
      const serverInfo = { name: 'arrival', version: '1.0.0' };
      return { id, result: { protocolVersion, capabilities: { tools: {} }, serverInfo } };
    }
    case 'tools/list':
      return { id, result: { tools } };
    case 'ping':
      return { id, result: {} };
    case 'tools/call':
      if (params.arguments.kills) process.kill(params.arguments.kills, 'SIGKILL');
      record({ arrived: params.arguments.n, head });
      if (params.name !== 'slow') return { id, result: { content: [{ type: 'text', text: 'recorded' }] } };
      running.set(`${session} ${id}`, params.arguments.n);
      return undefined;
    case 'notifications/cancelled':
      cancel(`${session} ${params.requestId}`);
      return undefined;
    default:
      return id === undefined ? undefined : { id, error: { code: -32601, message: 'Method not found' } };
  }
}

function cancel(key) {
  if (running.has(key)) record({ cancelled: running.get(key) });
  running.delete(key);
}

function serveStdio() {
  let rest = '';
  process.stdin.setEncoding('utf8').on('data', (chunk) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop();
    for (const line of lines) {
      if (line.trim() === '') continue;
      const message = answer(JSON.parse(line), 'stdio');
      if (message) process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    }
  });
}

function serveMessage(request, response) {
  heads += 1;
  const head = heads;
  record({ head });
  let body = '';
  request.setEncoding('utf8').on('data', (chunk) => (body += chunk));
  request.on('end', () => {
    const message = JSON.parse(body);
    const session = request.headers['mcp-session-id'] ?? `s${(sessions += 1)}`;
    const reply = answer(message, session, head);
    if (reply) {
      response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': session });
      response.end(JSON.stringify({ jsonrpc: '2.0', ...reply }));
    } else if (message.id === undefined) response.writeHead(202).end();
    else response.on('close', () => cancel(`${session} ${message.id}`));
  });
}

const server = createServer((request, response) => {
  const marker = /^\/marker\/(\w+)$/.exec(request.url)?.[1];
  if (marker) {
    record({ marker });
    response.writeHead(204).end();
  } else if (request.method === 'POST' && transport === 'http') serveMessage(request, response);
  else response.writeHead(405).end();
});
server.listen(0, '127.0.0.1', () => {
  record({ started: server.address().port });
  // the calls come after the line above, so that whoever reads the log knows every process that may have taken one
  if (transport === 'stdio') serveStdio();
});
// either kind ends with whoever started it, if it is not stubborn
if (temper === 'stubborn') process.on('SIGTERM', () => undefined);
else process.stdin.on('end', () => process.exit(0));
if (transport === 'http') process.stdin.resume();
