import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Which requests are refused, and how. */
interface Refusal {
  status: number;
  /** Every request, or `tools/call` alone. */
  of: 'everything' | 'calls';
}

/** An MCP provider over HTTP with one tool, `ok`, that refuses when told to. */
export interface RefusingProvider {
  url: string;
  refuse(refusal: Refusal | undefined): void;
  /** How many `tools/call` requests arrived. */
  calls(): number;
  /** The last request that arrived. */
  last(): { url: URL; headers: IncomingHttpHeaders };
  close(): Promise<void>;
}

export async function startRefusingProvider(): Promise<RefusingProvider> {
  let refusal: Refusal | undefined;
  let calls = 0;
  let last: { url: URL; headers: IncomingHttpHeaders } | undefined;
  const server = createServer((request, response) => {
    last = { url: new URL(request.url ?? '', 'http://provider'), headers: request.headers };
    void readBody(request).then((body) => {
      const message = (body === '' ? {} : JSON.parse(body)) as { id?: number; method?: string };
      if (message.method === 'tools/call') calls += 1;
      const refused = refusal !== undefined && (refusal.of === 'everything' || message.method === 'tools/call');
      if (refused) response.writeHead(refusal?.status ?? 500, { 'content-type': 'text/plain' }).end('go away');
      else answer(message, response);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    refuse: (next) => (refusal = next),
    calls: () => calls,
    last: () => {
      if (last === undefined) throw new Error('no request arrived yet');
      return last;
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function answer({ id, method }: { id?: number; method?: string }, response: ServerResponse): void {
  if (method === undefined) return void response.writeHead(405).end();
  if (id === undefined) return void response.writeHead(202).end();
  const results: Record<string, unknown> = {
    initialize: {
      protocolVersion: '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 'refusing', version: '1.0.0' },
    },
    'tools/list': { tools: [{ name: 'ok', inputSchema: { type: 'object' } }] },
    'tools/call': { content: [{ type: 'text', text: 'ok' }] },
  };
  const known = results[method];
  const reply = known === undefined ? { error: { code: -32_601, message: 'Method not found' } } : { result: known };
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, ...reply }));
}

async function readBody(request: IncomingMessage): Promise<string> {
  let body = '';
  request.setEncoding('utf8');
  for await (const chunk of request) body += String(chunk);
  return body;
}
