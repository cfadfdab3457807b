import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** `legacy`: revision 2025-11-25 with a session id; `modern`: 2026-07-28, without sessions. */
export type Era = 'legacy' | 'modern';

interface Message {
  id?: number | string;
  method: string;
  params?: { protocolVersion?: string; name?: string; arguments?: { n?: number }; _meta?: Record<string, unknown> };
}

const MODERN = '2026-07-28';
const inputSchema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
const tools = ['echo', 'hold'].map((name) => ({ name, inputSchema }));

/**
 * An HTTP provider that notes which calls arrive. It answers every request by one server-sent event, `echo` at once and
 * `hold` when it is told to.
 */
export class NetworkProvider {
  /** `arguments.n` of the calls, in the order of their arrival. */
  readonly arrivals: number[] = [];
  /** Finished handshakes; a modern one looks like a question for a sign of life. */
  handshakes = 0;
  /** Streams that were asked for from an event id on. */
  resumptions = 0;
  private readonly sent = new Map<number, string>();
  private readonly held = new Map<number, () => void>();
  /** Streams that a legacy client keeps open for what the provider may say by itself. */
  readonly listening = new Set<ServerResponse>();
  private readonly server = createServer((request, response) => void this.serve(request, response));

  /**
   * `resumption`: answers come with event ids, by which a client whose stream broke may ask for them again; `forgetful`
   * promises that and does not keep it.
   */
  constructor(
    readonly era: Era,
    private readonly resumption: 'none' | 'kept' | 'forgetful' = 'none',
  ) {}

  /** Resolves with its port. */
  async start(): Promise<number> {
    await once(this.server.listen(0, '127.0.0.1'), 'listening');
    return (this.server.address() as AddressInfo).port;
  }

  stop(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  arrivalsOf(n: number): number {
    return this.arrivals.filter((arrived) => arrived === n).length;
  }

  isHolding(n: number): boolean {
    return this.held.has(n);
  }

  /** Answers a held call. */
  release(n: number): void {
    this.held.get(n)?.();
    this.held.delete(n);
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === 'GET' && this.era === 'legacy')
      return this.listen(response, request.headers['last-event-id']);
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
    } catch {
      // the rest of the request was lost on its way, so it has not arrived
      return;
    }
    this.answer(JSON.parse(Buffer.concat(chunks).toString()) as Message, response);
  }

  private listen(response: ServerResponse, lastEventId: string | string[] | undefined): void {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    if (lastEventId !== undefined) {
      this.resumptions += 1;
      if (this.resumption === 'kept') response.end(this.sent.get(Number(lastEventId)));
    }
    this.listening.add(response);
    response.once('close', () => this.listening.delete(response));
  }

  private answer({ id, method, params }: Message, response: ServerResponse): void {
    const isModern = params?._meta?.['io.modelcontextprotocol/protocolVersion'] === MODERN;
    if (id === undefined) return void response.writeHead(202).end();
    if (isModern !== (this.era === 'modern')) {
      const error = { code: -32_022, message: 'Unsupported protocol version', data: { supported: [MODERN] } };
      const body = this.era === 'modern' ? JSON.stringify({ jsonrpc: '2.0', id, error }) : 'no such request here';
      return void response.writeHead(400, { 'content-type': 'application/json' }).end(body);
    }
    const result = (fields: object): void => this.send(response, id, fields);
    switch (method) {
      case 'server/discover':
        this.handshakes += 1;
        return result({ supportedVersions: [MODERN], capabilities: { tools: {} } });
      case 'initialize':
        this.handshakes += 1;
        response.setHeader('mcp-session-id', `s${this.handshakes}`);
        return result({
          protocolVersion: params?.protocolVersion,
          capabilities: { tools: {} },
          serverInfo: { name: 'network', version: '1.0.0' },
        });
      case 'ping':
        return result({});
      case 'tools/list':
        return result({ tools, ttlMs: 1_000, cacheScope: 'private' });
      default:
        return this.call(params?.name, params?.arguments?.n ?? 0, result);
    }
  }

  private call(tool: string | undefined, n: number, result: (fields: object) => void): void {
    this.arrivals.push(n);
    const answer = (): void => result({ content: [{ type: 'text', text: `answer ${n}` }] });
    if (tool === 'hold') this.held.set(n, answer);
    else answer();
  }

  private send(response: ServerResponse, id: number | string, fields: object): void {
    const result = this.era === 'modern' ? { resultType: 'complete', ...fields } : fields;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const event = `event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`;
    if (this.resumption === 'none') return void response.end(event);
    const eventId = this.sent.size + 1;
    this.sent.set(eventId, event);
    response.end(`id: ${eventId}\ndata:\n\n${event}`);
  }
}
