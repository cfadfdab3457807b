import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { AuthenticatedRequest } from '../access.guard.js';
import { ProblemError } from '../errors.js';
import type { AgentPrincipal } from './mcp.exchange.js';
import { McpExchanges } from './mcp.exchanges.js';
import { routeOf, sessionIdOf } from './mcp.headers.js';
import { McpInFlight } from './mcp.in-flight.js';
import { acceptedForms, isJsonBody } from './mcp.media-types.js';
import { cancelledRequestId, errorMessage, readMessage } from './mcp.message.js';

/**
 * Streamable HTTP for both protocol eras, without sessions: every POST is served from nothing but itself, so that any
 * replica can take it.
 */
@Injectable()
export class McpEndpoint {
  constructor(
    private readonly exchanges: McpExchanges,
    private readonly inFlight: McpInFlight,
  ) {}

  /** Answers one POST. Errors: `unsupported_media_type`; like everything after that, it leaves as JSON-RPC. */
  async serve(principal: AgentPrincipal, request: AuthenticatedRequest, reply: FastifyReply): Promise<void> {
    const { headers } = request;
    if (!isJsonBody(headers['content-type'])) {
      throw new ProblemError('unsupported_media_type', 'Send the body as application/json.');
    }
    const read = readMessage(request.body);
    if (read.kind === 'refused') {
      return send(reply, 400, errorMessage({ code: -32_600, message: read.reason }, read.id));
    }
    const route = routeOf(read, headers);
    if ('status' in route) {
      const { status, ...error } = route;
      return send(reply, status, errorMessage(error, read.kind === 'request' ? read.message.id : undefined));
    }
    const { era } = route;
    const sessionId = sessionIdOf(headers);
    if (read.kind === 'request') {
      const forms = acceptedForms(headers.accept);
      const exchange = { era, principal, sessionId, requestId: request.id, message: read.message };
      const isBehind = (): boolean => reply.raw.writableNeedDrain;
      const more = { readsEvents: forms.events, isBehind, controller: new AbortController() };
      return this.exchanges.run({ ...exchange, ...more }, headers, forms, reply);
    }
    // From revision 2026-07-28 on, only leaving the answer's stream cancels a request.
    const cancelled = era === 'legacy' && read.kind === 'notification' ? cancelledRequestId(read.message) : undefined;
    if (cancelled !== undefined) {
      await this.inFlight.cancel({ agentId: principal.agentId, sessionId, requestId: cancelled });
    }
    send(reply, 202, undefined);
  }
}

function send(reply: FastifyReply, status: number, body: Record<string, unknown> | undefined): void {
  void reply.status(status).send(body);
}
