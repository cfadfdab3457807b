import { Injectable } from '@nestjs/common';
import { createMcpHandler, type McpHttpHandler } from '@modelcontextprotocol/server';
import type { FastifyReply } from 'fastify';
import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { Logger } from '../logger.js';
import { OwnSecrets } from '../own-secrets.js';
import { Redactor } from '../redactor.js';
import { McpAbort } from './mcp.abort.js';
import type { McpExchange } from './mcp.exchange.js';
import { toWebRequest } from './mcp.headers.js';
import { McpLimits } from './mcp.limits.js';
import type { AcceptedForms } from './mcp.media-types.js';
import { errorMessage } from './mcp.message.js';
import { writeReply } from './mcp.reply.js';
import { buildMcpServer, forTheSdk, serveLegacy } from './mcp.server.js';
import { McpToolCalls } from './mcp.tool-calls.js';

/** Serves JSON-RPC requests through the SDK, each by a server of its own, and writes the answers. */
@Injectable()
export class McpExchanges {
  private readonly modern: McpHttpHandler;
  /** What a request handed to the SDK is about. */
  private readonly exchanges = new WeakMap<Request, McpExchange>();

  constructor(
    private readonly calls: McpToolCalls,
    private readonly limits: McpLimits,
    private readonly logger: Logger,
    private readonly ownSecrets: OwnSecrets,
  ) {
    this.modern = createMcpHandler(({ requestInfo }) => buildMcpServer(this.exchangeOf(requestInfo), this.calls), {
      legacy: 'reject',
      keepAliveMs: limits.commentEveryMs,
      onerror: (error) => this.logger.debug({ error }, 'mcp exchange'),
    });
  }

  /** Serves one request to its end; takes the connection over from Fastify. The caller's leaving aborts the exchange. */
  async run(
    exchange: McpExchange,
    headers: IncomingHttpHeaders,
    forms: AcceptedForms,
    reply: FastifyReply,
  ): Promise<void> {
    const { era, message, controller } = exchange;
    const { raw } = reply;
    const abort = (): void => {
      if (!raw.writableFinished) controller.abort(new McpAbort('disconnected'));
    };
    raw.once('close', abort);
    if (raw.destroyed) abort();
    // Session ids are random and forgotten at once: they only tell the calls of two clients of one agent apart.
    const session = era === 'legacy' && message.method === 'initialize' ? { 'mcp-session-id': randomUUID() } : {};
    const set = reply.getHeaders() as OutgoingHttpHeaders;
    const ours = { ...set, 'x-request-id': exchange.requestId, ...session };
    const redactor = this.ownSecrets.redactor.with(exchange.principal.redactor ?? Redactor.empty);
    const plan = { forms, headers: ours, id: message.id, limits: this.limits, redactor };
    reply.hijack();
    await writeReply(raw, this.answer(exchange, headers), plan);
  }

  /** Never rejects. */
  private async answer(exchange: McpExchange, headers: IncomingHttpHeaders): Promise<Response> {
    try {
      const request = toWebRequest(headers, exchange.controller.signal);
      const sent = forTheSdk(exchange);
      if (exchange.era === 'legacy') {
        const mcp = buildMcpServer(exchange, this.calls);
        return await serveLegacy(mcp, sent, request, this.limits.commentEveryMs);
      }
      this.exchanges.set(request, exchange);
      return await this.modern.fetch(request, { parsedBody: sent });
    } catch (error) {
      this.logger.error({ requestId: exchange.requestId, error }, 'mcp exchange failed');
      const internal = { code: -32_603, message: 'Something went wrong here; the log has the details.' };
      return Response.json(errorMessage(internal, exchange.message.id), { status: 500 });
    }
  }

  private exchangeOf(request: Request | undefined): McpExchange {
    const exchange = request === undefined ? undefined : this.exchanges.get(request);
    if (exchange === undefined) throw new Error('The SDK asked for a server without its request.');
    return exchange;
  }
}
