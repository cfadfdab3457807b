import { APP_GUARD, NestFactory } from '@nestjs/core';
import { Module } from '@nestjs/common';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { AccessGuard, unauthenticated, type AuthenticatedRequest } from '../src/access.guard.js';
import { Logger } from '../src/logger.js';
import { OwnSecrets } from '../src/own-secrets.js';
import { ProblemFilter } from '../src/problem.filter.js';
import { McpController } from '../src/runtime/mcp.controller.js';
import { McpEndpoint } from '../src/runtime/mcp.endpoint.js';
import { McpExchanges } from '../src/runtime/mcp.exchanges.js';
import { McpInFlight } from '../src/runtime/mcp.in-flight.js';
import { McpLimits } from '../src/runtime/mcp.limits.js';
import { mcpBodyProblem } from '../src/runtime/mcp.problems.js';
import { McpToolCalls } from '../src/runtime/mcp.tool-calls.js';
import type { CallReceipt, MenuAnswer } from '../src/runtime/menu.answers.js';
import type { MenuCaller } from '../src/runtime/menu.caller.js';
import type { MenuToolName } from '../src/runtime/menu.definitions.js';
import { Menu } from '../src/runtime/menu.js';

type Use = (tool: MenuToolName, args: unknown, caller: MenuCaller) => Promise<MenuAnswer>;

/** A menu whose answer each test decides; remembers what it was asked. */
export class ScriptedMenu extends Menu {
  readonly used: { tool: MenuToolName; args: unknown; caller: MenuCaller }[] = [];
  answer: Use = async () => receipt({});

  override use(tool: MenuToolName, args: unknown, caller: MenuCaller): Promise<MenuAnswer> {
    this.used.push({ tool, args, caller });
    return this.answer(tool, args, caller);
  }
}

export function receipt(fields: Partial<CallReceipt>): MenuAnswer {
  return {
    tool: 'mcp_call',
    answer: {
      ok: true,
      callId: 'call-1',
      provider: { id: 'files', name: 'Files' },
      tool: 'read',
      isError: false,
      content: [{ type: 'text', text: 'hello' }],
      protection: { status: 'clean', redacted: 0, sealed: 0, types: [] },
      durationMs: 1,
      ...fields,
    },
  };
}

export const CANCELLED = receipt({
  ok: false,
  content: [],
  error: { code: 'mcp_call_cancelled', message: 'Cancelled.', sent: 'maybe', retryable: false },
});

/**
 * A call that runs until it is cancelled. `running` resolves when it started, `aborted` when its signal fired and what
 * hangs on its answer was done.
 */
export class EndlessCall {
  private start: (caller: MenuCaller) => void = () => undefined;
  private abort: () => void = () => undefined;
  readonly running = new Promise<MenuCaller>((resolve) => (this.start = resolve));
  readonly aborted = new Promise<void>((resolve) => (this.abort = resolve));
  isAborted = false;

  readonly use: Use = (_tool, _args, caller) => {
    this.start(caller);
    return new Promise((resolve) => {
      caller.signal.addEventListener('abort', () => {
        this.isAborted = true;
        setImmediate(this.abort);
        resolve(CANCELLED);
      });
    });
  };
}

export interface McpTestServer {
  url: URL;
  menu: ScriptedMenu;
  inFlight: McpInFlight;
  close(): Promise<void>;
}

/** Serves nothing but `/mcp` on loopback. The header `x-agent` says who asks; `operator` is an operator. */
export async function startMcpServer(limits: Partial<McpLimits> = {}): Promise<McpTestServer> {
  const menu = new ScriptedMenu();
  const ownSecrets = new OwnSecrets([]);
  const logger = new Logger('silent', ownSecrets);

  @Module({
    controllers: [McpController],
    providers: [
      McpEndpoint,
      McpExchanges,
      McpInFlight,
      McpToolCalls,
      { provide: Menu, useValue: menu },
      { provide: Logger, useValue: logger },
      { provide: OwnSecrets, useValue: ownSecrets },
      { provide: McpLimits, useValue: Object.assign(new McpLimits(), limits) },
      { provide: APP_GUARD, useClass: AccessGuard },
    ],
  })
  class McpOnlyModule {}

  // Clients keep spare connections open, which would hold up the end of each test.
  const adapter = new FastifyAdapter({ bodyLimit: 1_048_576, forceCloseConnections: true });
  const application = await NestFactory.create<NestFastifyApplication>(McpOnlyModule, adapter, { logger: false });
  const filter = new ProblemFilter(logger, ownSecrets, mcpBodyProblem);
  application.useGlobalFilters(filter);
  const fastify = adapter.getInstance();
  fastify.addHook('onRequest', async (request: AuthenticatedRequest) => {
    const who = request.headers['x-agent'];
    if (typeof who !== 'string') throw unauthenticated();
    request.principal =
      who === 'operator'
        ? { kind: 'operator', credentialId: 'o', name: null, scopes: ['admin'] }
        : { kind: 'agent', credentialId: `token-of-${who}`, agentId: who };
  });
  await application.listen(0, '127.0.0.1');
  return {
    url: new URL('/mcp', await application.getUrl()),
    menu,
    inFlight: application.get(McpInFlight),
    close: () => application.close(),
  };
}
