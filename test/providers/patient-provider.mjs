// An MCP provider that writes down calls, cancellations and closed exchanges:
//   node patient-provider.mjs stdio|http|sse legacy|modern [json|events]
// `json` and `events` are the two ways to answer a POST of Streamable HTTP. Lines of the file FAKE_LOG: {pid, event, ...}
// with event `started` (port), `call` (id, name, n, token: what was sent to ask for progress), `cancelled` (requestId, n,
// told by a notification), `closed` (id, n: the caller closed the exchange before its answer), `late` (id: a reply in
// spite of the cancellation), `resumed` (a stream was asked for again), `ended` (the session was ended).
// Tools: `hold` {n} waits for `release` {n} or its cancellation; `state` {} tells {pid, holding, exchanges};
// `steps` {count, size, message, behind, token} tells its progress (and some for `token`), then answers, all in one piece
// of output; `ticks` tells progress without end and never answers.
import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';

const [transport, era, form] = process.argv.slice(2);
const MODERN = '2026-07-28';
const record = (entry) => {
  if (process.env.FAKE_LOG) appendFileSync(process.env.FAKE_LOG, `${JSON.stringify({ pid: process.pid, ...entry })}\n`);
};
const text = (value) => ({ content: [{ type: 'text', text: value }] });
const tools = ['hold', 'release', 'state', 'steps', 'ticks'].map((name) => ({ name, inputSchema: { type: 'object' } }));
const serverInfo = { name: 'patient', version: '1.0.0' };
const rpc = (message) => JSON.stringify({ jsonrpc: '2.0', ...message });

/** Calls that wait, by session and request id: {id, n, peer}. */
const holding = new Map();
/** HTTP exchanges of calls that are open. */
let exchanges = 0;

/** `peer.send` takes messages that go out in one piece; the last one is an answer unless `peer` is told otherwise. */
function take({ id, method, params }, session, peer) {
  const done = (result) =>
    peer.send([rpc({ id, result: era === 'modern' ? { resultType: 'complete', ...result } : result })]);
  switch (method) {
    case 'initialize':
      if (era === 'modern') return peer.send([rpc({ id, error: { code: -32601, message: 'Method not found' } })]);
      return done({ protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo });
    case 'server/discover':
      if (era !== 'modern') return peer.send([rpc({ id, error: { code: -32601, message: 'Method not found' } })]);
      return done({
        ttlMs: 0,
        cacheScope: 'private',
        supportedVersions: [MODERN],
        capabilities: { tools: {} },
        serverInfo,
      });
    case 'tools/list':
      return done(era === 'modern' ? { ttlMs: 0, cacheScope: 'private', tools } : { tools });
    case 'tools/call':
      record({ event: 'call', id, name: params.name, n: params.arguments.n, token: params._meta?.progressToken });
      return call(id, params, session, peer, done);
    case 'notifications/cancelled':
      return cancelled(params, session);
    default:
      return id === undefined
        ? undefined
        : peer.send([rpc({ id, error: { code: -32601, message: 'Method not found' } })]);
  }
}

function call(id, { name, arguments: given, _meta: meta }, session, peer, done) {
  switch (name) {
    case 'hold':
      holding.set(`${session} ${id}`, { id, n: given.n, peer, done });
      return peer.wait?.(() => {
        if (holding.delete(`${session} ${id}`) || peer.isCancelled) record({ event: 'closed', id, n: given.n });
      });
    case 'release':
      for (const [key, held] of holding) {
        if (held.n !== given.n) continue;
        holding.delete(key);
        held.done(text(`held ${held.n}`));
      }
      return done(text('released'));
    case 'state':
      return done(text(JSON.stringify({ pid: process.pid, holding: holding.size, exchanges })));
    case 'steps': {
      const { count, size = 0, message = 'step', behind = 0, token } = given;
      const asked = meta?.progressToken !== undefined;
      const step = (progress) => progressOf(meta?.progressToken, progress, `${message}${'x'.repeat(size)}`);
      const steps = (first, last) => Array.from({ length: asked ? last - first : 0 }, (_, at) => step(first + at + 1));
      const stray = token === undefined ? [] : [progressOf(token, 1, 'stray')];
      const result = text(`done ${given.n}`);
      const answer = rpc({ id, result: era === 'modern' ? { resultType: 'complete', ...result } : result });
      return peer.send([...stray, ...steps(0, count), answer, ...steps(count, count + behind)]);
    }
    case 'ticks': {
      holding.set(`${session} ${id}`, { id, n: given.n, peer, done });
      let progress = 0;
      const tick = () => {
        if (!holding.has(`${session} ${id}`)) return clearInterval(timer);
        peer.tell([progressOf(meta?.progressToken, (progress += 1), 'tick')]);
      };
      const timer = setInterval(tick, 20);
      return peer.wait?.(() => {
        if (holding.delete(`${session} ${id}`) || peer.isCancelled) record({ event: 'closed', id, n: given.n });
      });
    }
  }
}

function progressOf(progressToken, progress, message) {
  return rpc({ method: 'notifications/progress', params: { progressToken, progress, total: 100, message } });
}

function cancelled({ requestId }, session) {
  const held = holding.get(`${session} ${requestId}`);
  holding.delete(`${session} ${requestId}`);
  record({ event: 'cancelled', requestId, n: held?.n });
  if (held === undefined) return;
  held.peer.isCancelled = true;
  // a reply that nobody waits for any more
  held.peer.sendLate?.([rpc({ id: requestId, result: text('late') })]);
  if (held.peer.sendLate) record({ event: 'late', id: requestId });
}

function serveStdio() {
  // whoever ends it closes its input first: what is in the pipe is still read
  process.on('SIGTERM', () => {});
  const send = (messages) => process.stdout.write(messages.map((message) => `${message}\n`).join(''));
  let rest = '';
  process.stdin.setEncoding('utf8').on('data', (chunk) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop();
    for (const line of lines)
      if (line.trim() !== '') take(JSON.parse(line), 'stdio', { send, tell: send, sendLate: send });
  });
  process.stdin.on('end', () => process.exit(0));
}

const events = (messages) => messages.map((message) => `event: message\ndata: ${message}\n\n`).join('');

/** The peer of one POST of Streamable HTTP. */
function exchange(response, session, isCall) {
  if (isCall) exchanges += 1;
  const headers = era === 'modern' ? {} : { 'mcp-session-id': session };
  let onClose = () => {};
  response.on('close', () => {
    if (isCall) exchanges -= 1;
    if (!response.writableFinished) onClose();
  });
  const open = () =>
    response.headersSent || response.writeHead(200, { ...headers, 'content-type': 'text/event-stream' });
  return {
    send: (messages) => {
      if (response.headersSent || messages.length > 1 || form === 'events') {
        open();
        response.end(events(messages));
      } else {
        response.writeHead(200, { ...headers, 'content-type': 'application/json' });
        response.end(messages[0]);
      }
    },
    tell: (messages) => {
      open();
      response.write(events(messages));
    },
    // the stream stays open behind it
    sendLate: form === 'events' ? (messages) => response.write(events(messages)) : undefined,
    wait: (closed) => {
      onClose = closed;
      if (form !== 'events') return;
      open();
      // a stream that could be resumed
      if (era === 'legacy') response.write('id: 1\ndata:\n\n');
    },
  };
}

/** Event streams of the older transport, by session. */
const streams = new Map();
let sessions = 0;

function serveSse(request, response, message) {
  const session = new URL(request.url, 'http://localhost').searchParams.get('session');
  if (request.method === 'GET') {
    const opened = `s${(sessions += 1)}`;
    streams.set(opened, response);
    response.on('close', () => record({ event: 'ended', session: opened }));
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    return response.write(`event: endpoint\ndata: /messages?session=${opened}\n\n`);
  }
  if (session === null) return response.writeHead(405).end();
  response.writeHead(202).end();
  const send = (messages) => streams.get(session).write(events(messages));
  return take(message, session, { send, tell: send, sendLate: send });
}

function serveHttp(request, response, message) {
  if (request.method === 'GET' && request.headers['last-event-id']) record({ event: 'resumed' });
  if (request.method === 'DELETE') record({ event: 'ended', session: request.headers['mcp-session-id'] });
  if (request.method !== 'POST') return response.writeHead(request.method === 'DELETE' ? 200 : 405).end();
  const session = request.headers['mcp-session-id'] ?? `s${(sessions += 1)}`;
  if (message.id === undefined) {
    response.writeHead(202).end();
    return take(message, session, { send: () => {} });
  }
  return take(message, session, exchange(response, session, message.method === 'tools/call'));
}

if (transport === 'stdio') {
  record({ event: 'started' });
  serveStdio();
} else {
  const serve = transport === 'sse' ? serveSse : serveHttp;
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk) => (body += chunk));
    request.on('end', () => serve(request, response, body === '' ? undefined : JSON.parse(body)));
  });
  server.listen(0, '127.0.0.1', () => {
    record({ event: 'started', port: server.address().port });
    process.stdout.write(`http://127.0.0.1:${server.address().port}/mcp\n`);
  });
  // it ends with whoever started it
  process.stdin.on('end', () => process.exit(0)).resume();
}
