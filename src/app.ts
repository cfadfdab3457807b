import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import type { AuthenticatedRequest } from './access.guard.js';
import { AppModule } from './app.module.js';
import { AuditRefusals } from './audit.refusals.js';
import { ProblemError } from './errors.js';
import { isNestedDeeper } from './json-depth.js';
import { Listeners } from './listeners.js';
import { Logger, NestLogger } from './logger.js';
import { createOpenApi, serveDocumentation } from './openapi.js';
import { OwnSecrets } from './own-secrets.js';
import type { Platform } from './platform.js';
import { ProblemFilter } from './problem.filter.js';
import { RequestGate } from './request-gate.js';
import { mcpBodyProblem } from './runtime/mcp.problems.js';
import { validationPipe } from './validation.js';

/** Largest request body, bytes: a complete set of 5,000 grants with long names fits. */
const BODY_LIMIT_BYTES = 4 * 1_048_576;
/** Deepest nesting of a request body, levels. */
const MAX_BODY_DEPTH = 200;
/** A client has this long to send its request, milliseconds. */
const REQUEST_TIMEOUT_MS = 30_000;
/** Longest path parameter, characters; longer than any id, so that handlers say what is not there. */
const MAX_PATH_PARAMETER = 1_024;

/** The composed application, not yet listening. */
export async function createApplication(platform: Platform): Promise<NestFastifyApplication> {
  const adapter = new FastifyAdapter({
    bodyLimit: BODY_LIMIT_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
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
    else if (isNestedDeeper(body, MAX_BODY_DEPTH)) done(nestedTooDeeply());
    else void parseJson(request, body, done);
  });
  fastify.addHook('onRequest', async (request: AuthenticatedRequest) => gate.admit(request));
  const refusals = application.get(AuditRefusals);
  fastify.addHook('onSend', async (request: AuthenticatedRequest, reply) => {
    await refusals.note(request, reply.statusCode);
    void reply.header('x-request-id', request.id);
  });
  serveDocumentation(application, createOpenApi(application));
  return application;
}

function nestedTooDeeply(): ProblemError {
  return new ProblemError('malformed_json', `The body is nested too deeply; ${MAX_BODY_DEPTH} levels are read.`);
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
