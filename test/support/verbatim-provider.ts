import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JsonRpcRequest } from './json-rpc-server.js';

/** How answers come: as JSON, on the call's own event stream, which then stays open, or on the common one of 2024-11-05. */
export type AnswerShape = 'json' | 'events' | 'common-stream';

/** How it answers what is no request. */
export interface Acceptance {
  status: 200 | 202;
  type: string;
}

/**
 * A provider on loopback whose tool `say` answers with the text `raw` it is given, ID in it being the id of the call; as
 * JSON with the status that it is given, too, and on an event stream that it ends where it is told to by `ends`. With an
 * `acceptance` the answer to what is no request never ends.
 */
export class VerbatimProvider {
  /** The common streams that are open. */
  readonly streams = new Set<ServerResponse>();
  readonly calls: JsonRpcRequest[] = [];
  /** The answers without an end that are open. */
  readonly accepting = new Set<ServerResponse>();
  private readonly server = createServer((request, response) => void this.serve(request, response));

  constructor(
    private readonly shape: AnswerShape,
    private readonly acceptance?: Acceptance,
  ) {}

  async start(): Promise<string> {
    await once(this.server.listen(0, '127.0.0.1'), 'listening');
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/mcp`;
  }

  stop(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const isCommon = this.shape === 'common-stream';
    if (isCommon && request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('event: endpoint\ndata: /messages\n\n');
      this.streams.add(response);
      response.once('close', () => this.streams.delete(response));
      return;
    }
    if (request.method !== 'POST' || (isCommon && request.url !== '/messages'))
      return void response.writeHead(405).end();
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const asked = JSON.parse(Buffer.concat(chunks).toString()) as JsonRpcRequest;
    if (asked.id === undefined) return this.accept(response);
    const { method, params } = asked;
    const result = (value: unknown): string => JSON.stringify({ jsonrpc: '2.0', id: asked.id, result: value });
    switch (method) {
      case 'initialize': {
        const serverInfo = { name: 'verbatim', version: '1.0.0' };
        const capabilities = { tools: {} };
        const protocolVersion = isCommon ? '2024-11-05' : params?.['protocolVersion'];
        return this.answer(response, result({ protocolVersion, capabilities, serverInfo }), 200);
      }
      case 'tools/list':
        return this.answer(response, result({ tools: [{ name: 'say', inputSchema: { type: 'object' } }] }), 200);
      case 'tools/call': {
        this.calls.push(asked);
        const { raw, status = 200, ends = false } = params?.['arguments'] ?? {};
        this.answer(response, String(raw).replaceAll('ID', String(asked.id)), status);
        if (ends && !response.writableEnded) response.end();
        return;
      }
      default:
        response.writeHead(400).end();
    }
  }

  private accept(response: ServerResponse): void {
    const { acceptance } = this;
    if (acceptance === undefined) return void response.writeHead(202).end();
    response.writeHead(acceptance.status, { 'content-type': acceptance.type }).write(' ');
    this.accepting.add(response);
    response.once('close', () => this.accepting.delete(response));
  }

  private answer(response: ServerResponse, text: string, status: number): void {
    switch (this.shape) {
      case 'json':
        return void response.writeHead(status, text === '' ? {} : { 'content-type': 'application/json' }).end(text);
      case 'events':
        return void response.writeHead(200, { 'content-type': 'text/event-stream' }).write(`data: ${text}\n\n`);
      case 'common-stream':
        response.writeHead(202).end('Accepted');
        for (const stream of this.streams) stream.write(`event: message\ndata: ${text}\n\n`);
    }
  }
}
