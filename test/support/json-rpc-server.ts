import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface JsonRpcRequest {
  id?: number | string;
  method: string;
  params?: Record<string, any>;
}

/** What is answered: the members of the message beside `jsonrpc`, with the request's `id` by default, and the status, by default 200. */
export type JsonRpcReply = ({ result: unknown } | { error: unknown }) & { status?: number; id?: unknown };

export interface JsonRpcServer {
  url: string;
  stop(): Promise<void>;
}

/**
 * A Streamable HTTP server on loopback that offers no stream of its own; answers as JSON, or each as a short stream.
 * What `reply` answers with undefined stays without an answer.
 */
export async function startJsonRpcServer(
  reply: (request: JsonRpcRequest, headers: IncomingHttpHeaders) => JsonRpcReply | undefined,
  as: 'application/json' | 'text/event-stream' = 'application/json',
): Promise<JsonRpcServer> {
  const server = createServer((request, response) => {
    void (async () => {
      if (request.method !== 'POST') return response.writeHead(405).end();
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const asked = JSON.parse(Buffer.concat(chunks).toString('utf8')) as JsonRpcRequest;
      if (asked.id === undefined) return response.writeHead(202).end();
      const replied = reply(asked, request.headers);
      if (replied === undefined) return;
      const { status = 200, ...members } = replied;
      const text = JSON.stringify({ jsonrpc: '2.0', id: asked.id, ...members });
      response.writeHead(status, { 'content-type': as });
      return response.end(as === 'application/json' ? text : `data: ${text}\n\n`);
    })();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
