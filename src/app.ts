import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import type { AuthenticatedRequest } from './access.guard.js';
import { AppModule } from './app.module.js';
import { AuditRefusals } from './audit.refusals.js';
import { answerClientError } from './client-errors.js';
import { ProblemError } from './errors.js';
import { boundConnections, defaultHttpBounds, type HttpBounds } from './http-bounds.js';
import { isNestedDeeper } from './json-depth.js';
import { Listeners } from './listeners.js';
import { Logger, NestLogger } from './logger.js';
import { createOpenApi, serveDocumentation } from './openapi.js';
import { OauthService } from './oauth.service.js';
import { maskReplies } from './outgoing-replies.js';
import { OwnSecrets } from './own-secrets.js';
import type { Platform } from './platform.js';
import { ProblemFilter } from './problem.filter.js';
import { RateBounds } from './rate-bounds.js';
import { RequestGate } from './request-gate.js';
import { mcpBodyProblem } from './runtime/mcp.problems.js';
import { validationPipe } from './validation.js';

/** Longest path parameter, characters; longer than any id, so that handlers say what is not there. */
const MAX_PATH_PARAMETER = 1_024;

/** The composed application, not yet listening. */
export async function createApplication(
  platform: Platform,
  bounds: HttpBounds = defaultHttpBounds,
): Promise<NestFastifyApplication> {
  const adapter = new FastifyAdapter({
    bodyLimit: bounds.bodyBytes,
    requestTimeout: bounds.requestMs,
    keepAliveTimeout: bounds.keepAliveMs,
    http: {
      maxHeaderSize: bounds.headerBytes,
      headersTimeout: bounds.headersMs,
      connectionsCheckingInterval: bounds.checkMs,
    },
    clientErrorHandler: answerClientError,
    genReqId: () => randomUUID(),
    trustProxy: false,
    // calls in flight are ended by their own rooms, within the drain's bound
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: MAX_PATH_PARAMETER },
    // a path that cannot be read reaches neither hooks nor handlers, but passes the same gate and is answered alike
    frameworkErrors: (fault: Error, request: FastifyRequest, reply: FastifyReply) => {
      void answerUnroutable(fault, request, reply);
    },
  });
  const application = await NestFactory.create<NestFastifyApplication>(AppModule.on(platform), adapter, {
    logger: new NestLogger(platform.logger),
    abortOnError: false,
    // only what Fastify itself reads as JSON; no forms
    bodyParser: false,
  });
  const filter = new ProblemFilter(application.get(Logger), application.get(OwnSecrets), mcpBodyProblem);
  application.useGlobalFilters(filter);
  application.useGlobalPipes(validationPipe());
  const gate = application.get(RequestGate);
  const answerUnroutable = async (fault: Error, request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    void reply.header('x-request-id', request.id);
    const refusal: unknown = await gate.admit(request).catch((reason: unknown) => reason);
    filter.answer(refusal ?? fault, request, reply);
  };
  const fastify = adapter.getInstance();
  fastify.removeContentTypeParser(['text/plain', 'application/json']);
  const parseJson = fastify.getDefaultJsonParser('error', 'error');
  // clients often name the type also where there is no body
  fastify.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') done(null, undefined);
    else if (isNestedDeeper(body, bounds.bodyDepth)) done(nestedTooDeeply(bounds.bodyDepth));
    else void parseJson(request, body, done);
  });
  fastify.addHook('onRequest', async (request: AuthenticatedRequest) => gate.admit(request));
  const refusals = application.get(AuditRefusals);
  const challenge = application.get(OauthService).settings?.challenge;
  fastify.addHook('onSend', async (request: AuthenticatedRequest, reply) => {
    await refusals.note(request, reply.statusCode);
    void reply.header('x-request-id', request.id);
    if (reply.statusCode === 401 && challenge !== undefined && request.url.split('?', 1)[0] === '/mcp') {
      void reply.header('www-authenticate', challenge);
    }
  });
  maskReplies(fastify, application.get(OwnSecrets));
  const { WARREN_RATE_CONNECTIONS: connections } = platform.settings;
  const rates = application.get(RateBounds);
  boundConnections(application.getHttpServer(), { ...bounds, connections }, () => rates.count('connections'));
  serveDocumentation(application, createOpenApi(application));
  return application;
}

function nestedTooDeeply(levels: number): ProblemError {
  return new ProblemError('malformed_json', `The body is nested too deeply; ${levels} levels are read.`);
}

/** Listens and returns the URL to reach it at. */
export async function listen(application: NestFastifyApplication, platform: Platform): Promise<string> {
  const { HOST, PORT } = platform.settings;
  await application.listen(PORT, HOST);
  const address = application.getHttpServer().address() as AddressInfo;
  application.get(Listeners).current = [{ address: address.address, port: address.port }];
  const host = HOST === '0.0.0.0' || HOST === '::' ? 'localhost' : HOST.includes(':') ? `[${HOST}]` : HOST;
  return `http://${host}:${address.port}`;
}
