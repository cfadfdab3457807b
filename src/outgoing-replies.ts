import type { FastifyInstance, FastifyReply } from 'fastify';
import type { AuthenticatedRequest } from './access.guard.js';
import { outgoingText } from './outgoing-text.js';
import type { OwnSecrets } from './own-secrets.js';

/** Where files of the API pages are answered, the only streams there are. */
const STREAMING_PREFIX = '/docs/';

/**
 * Lets every reply of the HTTP face pass the redactor right before it is written, whatever made it: body and the header
 * that repeats what was asked. What a connection's provider said was masked with that connection's secrets before.
 */
export function maskReplies(fastify: FastifyInstance, ownSecrets: OwnSecrets): void {
  fastify.addHook('onSend', async (request: AuthenticatedRequest, reply: FastifyReply, payload: unknown) => {
    const presented = request.principal?.redactor;
    const redactor = presented === undefined ? ownSecrets.redactor : ownSecrets.redactor.with(presented);
    const location = reply.getHeader('location');
    if (typeof location === 'string') void reply.header('location', redactor.text(location).text);
    if (payload === null || payload === undefined) return payload;
    if (typeof payload === 'string') return outgoingText(payload, redactor);
    if (Buffer.isBuffer(payload)) {
      const text = payload.toString('utf8');
      const masked = await outgoingText(text, redactor);
      return masked === text ? payload : masked;
    }
    if (request.url.startsWith(STREAMING_PREFIX)) return payload;
    throw new TypeError('A reply must be text: a stream would pass the redactor by.');
  });
}
