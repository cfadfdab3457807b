import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readdressed, type ToolsBehind } from './conformance.readdressed.js';

/** A loopback address that opens Warren's `/mcp` to a client that cannot send a bearer token. */
export interface Door {
  url: string;
  close(): Promise<void>;
}

interface DoorOptions extends ToolsBehind {
  /** Warren's base URL. */
  warren: string;
  /** Added to every request. */
  token: string;
}

/**
 * Listens on a free port and passes everything on as it came, `Host` and `Origin` included, but for the token and for calls
 * of the tools behind the menu; what comes back is not touched.
 */
export async function openDoor(options: DoorOptions): Promise<Door> {
  const server = createServer((incoming, outgoing) => {
    pass(incoming, outgoing, options).catch(() => outgoing.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function pass(incoming: IncomingMessage, outgoing: ServerResponse, options: DoorOptions): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const posted = readdressed({ headers: { ...incoming.headers }, body: Buffer.concat(chunks) }, options);
  const headers = { ...posted.headers, authorization: `Bearer ${options.token}` };
  // of what is sent on, not of what came
  delete headers['transfer-encoding'];
  if (posted.body.length > 0) headers['content-length'] = String(posted.body.length);
  const onward = request(new URL(incoming.url ?? '/', options.warren), { method: incoming.method, headers });
  outgoing.on('close', () => onward.destroy());
  onward.on('error', () => outgoing.destroy());
  onward.on('response', (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    outgoing.flushHeaders();
    answer.on('error', () => outgoing.destroy());
    answer.pipe(outgoing);
  });
  onward.end(posted.body);
}
