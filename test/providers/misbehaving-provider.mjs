// A stdio MCP provider whose tools each fail in their own way: node misbehaving-provider.mjs [mode] [anything] [catalog.json]
// mode: "well" (default), "modern" (revision 2026-07-28 only), "exit" (exits at start), "mute" (answers nothing), "stubborn"
// (ends only by KILL), "late" (answers the handshake after the milliseconds that follow).
// catalog.json: tool definitions listed beside its own. FAKE_LOG: every message that arrives, as one JSON line.
import { appendFileSync, readFileSync, closeSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [mode = 'well', ...more] = process.argv.slice(2);
const catalog = more.find((argument) => argument.endsWith('.json'));
const MODERN = '2026-07-28';

const record = (entry) => {
  if (process.env.FAKE_LOG) appendFileSync(process.env.FAKE_LOG, `${JSON.stringify(entry)}\n`);
};
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const text = (value) => ({ content: [{ type: 'text', text: value }] });

const object = { type: 'object' };
const typed = {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'integer', minimum: 1 } },
  required: ['city'],
  additionalProperties: false,
};
const plain = ['slow', 'exit-now', 'is-error', 'silent-error', 'rpc-error', 'needs-url', 'needs-input', 'huge'];
const others = ['strange', 'oversize', 'not-a-result', 'server-asks', 'echo-arguments'];
const tools = [
  { name: 'ok', description: 'Answers at once.', inputSchema: object },
  { name: 'typed', description: 'Wants a city.', inputSchema: typed },
  ...[...plain, ...others].map((name) => ({ name, description: `Does ${name}.`, inputSchema: object })),
  ...(catalog === undefined ? [] : JSON.parse(readFileSync(catalog, 'utf8'))),
];

/** Calls that wait for the client's answer to a request of ours, by the id of that request. */
const asking = new Map();

const done = (id, result) => send({ id, result: mode === 'modern' ? { resultType: 'complete', ...result } : result });
const emptyForm = { type: 'object', properties: {} };

/** Closes a pipe of this process for good; the stream alone keeps it open. */
function shut(stream, descriptor) {
  stream.destroy();
  try {
    closeSync(descriptor);
  } catch {
    // it was closed with the stream
  }
}

/** What each tool does; every other answers at once. */
const calls = {
  slow: () => {},
  'exit-now': () => process.exit(3),
  'is-error': (id) => done(id, { ...text('The quota is used up.'), isError: true }),
  'silent-error': (id) => done(id, { content: [], isError: true }),
  'rpc-error': (id) => send({ id, error: { code: -32602, message: 'There is no city of that name.' } }),
  'needs-url': (id) =>
    send({ id, error: { code: -32042, message: 'Open this page first.', data: { elicitations: [] } } }),
  'needs-input': (id) => {
    const params = { mode: 'form', message: 'Sure?', requestedSchema: emptyForm };
    const inputRequests = { sure: { method: 'elicitation/create', params } };
    send({ id, result: { resultType: 'input_required', inputRequests, requestState: 'state' } });
  },
  strange: (id) => send({ id, result: { resultType: 'strange' } }),
  huge: (id) => done(id, text(`head${'x'.repeat(100_000)}tail`)),
  oversize: (id) => done(id, text('x'.repeat(1_000_000))),
  'not-a-result': (id) => send({ id, result: 'only text' }),
  'server-asks': (id) => {
    const question = `ask-${id}`;
    asking.set(question, (answer) => done(id, text(JSON.stringify(answer))));
    send({ id: question, method: 'elicitation/create', params: { message: 'Sure?', requestedSchema: emptyForm } });
  },
  'echo-arguments': (id, given) => done(id, text(JSON.stringify(given))),
  'odd-progress': (id) => {
    const odd = [{ toString: 1, valueOf: 1 }, null, [], {}, true, '1', 'x', 1e308, { $gt: '' }];
    for (const progressToken of odd) {
      send({ method: 'notifications/progress', params: { progressToken, progress: 1 } });
      send({ method: 'notifications/progress', params: { progressToken: 1, progress: progressToken } });
    }
    for (const params of [null, [], 'text', 7]) send({ method: 'notifications/progress', params });
    done(id, text('survived'));
  },
  'close-input': (id) => {
    setInterval(() => {}, 60_000);
    done(id, text('deaf'));
    shut(process.stdin, 0);
  },
  'close-output': () => {
    setInterval(() => {}, 60_000);
    shut(process.stdout, 1);
  },
};

record({ event: 'start', pid: process.pid, environment: process.env, arguments: process.argv.slice(2) });
if (mode === 'exit') {
  process.stderr.write('no key configured\n');
  process.exit(7);
}
if (mode === 'stubborn') {
  process.on('SIGTERM', () => {});
  setInterval(() => {}, 60_000);
}
createInterface({ input: process.stdin }).on('line', (line) => {
  if (line.trim() === '' || mode === 'mute') return;
  const message = JSON.parse(line);
  const { id, method, params } = message;
  record({ event: 'message', pid: process.pid, id, method, params });
  if (method === undefined) {
    asking.get(id)?.({ result: message.result, error: message.error });
    return;
  }
  if (id === undefined) return;
  const modern = mode === 'modern' ? { resultType: 'complete', ttlMs: 0, cacheScope: 'private' } : {};
  const serverInfo = { name: 'misbehaving', version: '1.0.0' };
  if (method === 'initialize' && mode !== 'modern') {
    const greet = () =>
      send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo } });
    if (mode === 'late') setTimeout(greet, Number(more[0]));
    else greet();
  } else if (method === 'server/discover' && mode === 'modern') {
    const said = { supportedVersions: [MODERN], capabilities: { tools: {} }, serverInfo };
    send({ id, result: { ...modern, ...said } });
  } else if (method === 'tools/list') send({ id, result: { ...modern, tools } });
  else if (method === 'tools/call') (calls[params.name] ?? ((call) => done(call, text('ok'))))(id, params.arguments);
  else if (method === 'ping') send({ id, result: {} });
  else send({ id, error: { code: -32601, message: 'Method not found' } });
});
