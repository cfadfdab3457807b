import { createInterface } from 'node:readline';

/** Serves one client over standard input and output, until its input ends. */
export function serveStdio(answer, arrivals) {
  /** Numbers of the calls without an answer, by request id. */
  const waiting = new Map();
  const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const lines = createInterface({ input: process.stdin });
  lines.on('line', (line) => {
    const message = JSON.parse(line);
    const { id, method, params } = message;
    if (method === undefined) return;
    if (method === 'notifications/cancelled' && waiting.has(params.requestId)) {
      arrivals.cancelled(waiting.get(params.requestId));
      waiting.delete(params.requestId);
    }
    const { notices = [], ...reply } = answer(message);
    for (const notice of notices) send(notice);
    if ('result' in reply || 'error' in reply) send({ id, ...reply });
    else if (method === 'tools/call') waiting.set(id, params.arguments.n);
  });
  lines.on('close', () => process.exit(0));
}
