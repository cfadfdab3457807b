import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';

/**
 * Serves Streamable HTTP on loopback until standard input ends, and tells its port as `listening on <port>`. Calls of an
 * odd number are answered by an event stream, the others by JSON. `POST /control/cut/<count>` cuts the connections of the
 * next `count` calls, and `GET /control/facts` answers `{cuts, initializations, generation}`: connections cut and
 * handshakes so far, and the last `x-generation` header of any.
 */
export function serveHttp(port, answer, arrivals) {
  const sessions = new Set();
  /** Numbers of the calls without an answer, by session and request id. */
  const waiting = new Map();
  const facts = { cuts: 0, initializations: 0, generation: null };
  let cutsLeft = 0;

  const server = createServer((request, response) => void serve(request, response));

  async function serve(request, response) {
    const control = /^\/control\/(?:cut\/(\d+)|facts)$/.exec(request.url);
    if (control !== null) {
      cutsLeft += Number(control[1] ?? 0);
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(facts));
      return;
    }
    const session = request.headers['mcp-session-id'];
    if (session !== undefined && !sessions.has(session)) response.writeHead(404).end();
    else if (request.method === 'GET') response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    else if (request.method === 'DELETE') {
      sessions.delete(session);
      response.writeHead(204).end();
    } else if (request.method === 'POST') await serveMessage(request, response, session);
    else response.writeHead(405).end();
  }

  async function serveMessage(request, response, session) {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    const message = JSON.parse(body);
    const { id, method, params } = message;
    const headers = { 'mcp-session-id': session };
    if (method === 'initialize') {
      headers['mcp-session-id'] = randomUUID();
      sessions.add(headers['mcp-session-id']);
      facts.initializations += 1;
      facts.generation = request.headers['x-generation'] ?? facts.generation;
    } else if (session === undefined && id !== undefined && method !== 'server/discover') {
      response.writeHead(400).end();
      return;
    }
    if (method === 'notifications/cancelled') cancel(`${session} ${params.requestId}`);
    const { notices = [], ...reply } = answer(message);
    if (id === undefined) response.writeHead(202).end();
    else if (!('result' in reply || 'error' in reply)) {
      const key = `${session} ${id}`;
      waiting.set(key, params.arguments.n);
      response.on('close', () => cancel(key));
    } else {
      const asEvents = method === 'tools/call' && (params.arguments.n % 2 === 1 || notices.length > 0);
      const messages = [...notices, { id, ...reply }].map((sent) => JSON.stringify({ jsonrpc: '2.0', ...sent }));
      const text = asEvents ? messages.map((sent) => `event: message\ndata: ${sent}\n\n`).join('') : messages.at(-1);
      headers['content-type'] = asEvents ? 'text/event-stream' : 'application/json';
      if (headers['mcp-session-id'] === undefined) delete headers['mcp-session-id'];
      if (method === 'tools/call' && cutsLeft > 0) cut(response, headers, text);
      else response.writeHead(200, headers).end(text);
    }
  }

  function cancel(key) {
    if (waiting.has(key)) arrivals.cancelled(waiting.get(key));
    waiting.delete(key);
  }

  /** By turns: a reset in place of an answer, and an end in the middle of one. */
  function cut(response, headers, text) {
    cutsLeft -= 1;
    facts.cuts += 1;
    if (facts.cuts % 2 === 1) {
      response.socket.resetAndDestroy();
      return;
    }
    response.writeHead(200, headers);
    response.write(text.slice(0, text.length / 2), () => response.socket.destroy());
  }

  server.listen(port, '127.0.0.1', () => process.stdout.write(`listening on ${server.address().port}\n`));
  process.stdin.resume().on('end', () => process.exit(0));
}
