import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Config } from '../config.js';
import { connectAsAgent } from '../connections/session/agent-client.js';
import { CredentialsService } from '../credentials.service.js';
import { prepareDataDirectory } from '../data-directory.js';
import { startServer, type RunningServer } from '../main.js';
import { keptToken } from './kept-token.js';
import { OperatorClient } from './operator-client.js';
import { listenForStop } from './stop-signal.js';

const CONNECTION = 'everything';
const AGENT = 'demo';
const TOOLS = ['echo', 'get-sum', 'get-structured-content'];

/**
 * `warren quickstart`: the whole story on a fresh machine — a real provider, discovered, three tools granted to one
 * agent, one of them called over MCP as that agent — then keeps serving. A second run reuses what is there.
 */
export async function quickstart({ settings, effective }: Config): Promise<void> {
  // the story is told on standard output; the log only speaks up when something is wrong
  const quiet = effective.find(({ name }) => name === 'LOG_LEVEL')?.source === 'default';
  // heard from the first moment: a signal during the start must not leave a database behind
  const stop = listenForStop();
  const server = await startServer(quiet ? { ...settings, LOG_LEVEL: 'warn' } : settings);
  try {
    const told = await Promise.race([tell(server), stop.first]);
    if (typeof told !== 'string') report(server.url, told.key, told.token);
  } catch (error) {
    await server.stop();
    throw error;
  }
  await stop.first;
  console.log('\nStopping …');
  await server.stop(stop.again);
}

async function tell(server: RunningServer): Promise<{ key: string; token: string }> {
  const { application, platform, url } = server;
  step('database', platform.embedded === undefined ? 'the one DATABASE_URL names' : 'embedded PostgreSQL');
  const directory = prepareDataDirectory(platform.dataDirectory);
  const credentials = application.get(CredentialsService);
  const key = await keptToken(join(directory, 'quickstart-operator-key'), credentials, async () => {
    return (await credentials.issueOperatorKey({ kind: 'command' }, 'quickstart', ['admin'])).token;
  });
  const operator = new OperatorClient(url, key);

  const connection = await operator.put('connections', CONNECTION, {
    name: 'Everything (demo)',
    transport: 'stdio',
    command: process.execPath,
    args: [demoServer(), 'stdio'],
    lifecycle: 'keep_alive',
  });
  step('connection', `${connection.id}: @modelcontextprotocol/server-everything over stdio, keep_alive`);
  const discovery = await operator.post<{ toolCount: number; durationMs: number }>(
    `connections/${CONNECTION}/discover`,
    {},
  );
  step('discovery', `${discovery.toolCount} tools in ${Math.round(discovery.durationMs)} ms`);

  const agent = await operator.put('agents', AGENT, { name: 'Demo agent' });
  await operator.patch(`agents/${AGENT}/mcp-tools`, {
    add: TOOLS.map((toolName) => ({ connectionId: CONNECTION, toolName })),
  });
  step('agent', `${agent.id}, granted exactly: ${TOOLS.join(', ')}`);
  const token = await keptToken(join(directory, 'quickstart-agent-token'), credentials, async () => {
    return (await operator.post<{ token: string }>(`agents/${AGENT}/tokens`, { name: 'quickstart' })).token;
  });
  await showMenu(url, token);
  return { key, token };
}

async function showMenu(url: string, token: string): Promise<void> {
  const agent = await connectAsAgent(url, token);
  try {
    step('menu', `over MCP ${agent.protocolVersion ?? ''}, as ${AGENT}: ${(await agent.toolNames()).join(', ')}`);
    const found = JSON.parse(await agent.call('mcp_capabilities', { query: 'add two numbers' })) as {
      tools: { name: string; granted: boolean }[];
    };
    step(
      'mcp_capabilities',
      `"add two numbers" → ${found.tools
        .slice(0, 3)
        .map(({ name, granted }) => `${name}${granted ? '' : ' (not granted)'}`)
        .join(', ')}`,
    );
    const sum = await agent.call('mcp_call', { provider: CONNECTION, tool: 'get-sum', arguments: { a: 19, b: 23 } });
    step('mcp_call', `get-sum {a: 19, b: 23} → ${sum}`);
    const word = randomUUID().slice(0, 8);
    const echo = await agent.call('mcp_call', { provider: CONNECTION, tool: 'echo', arguments: { message: word } });
    step('mcp_call', `echo {message: "${word}"} → ${echo}`);
  } finally {
    await agent.close();
  }
}

function report(url: string, key: string, token: string): void {
  const client = {
    mcpServers: { warren: { type: 'http', url: `${url}/mcp`, headers: { Authorization: `Bearer ${token}` } } },
  };
  console.log(`
Warren serves at ${url}   (API pages: ${url}/docs)

  operator key   ${key}
  agent token    ${token}

Paste into your MCP client:

${JSON.stringify(client, undefined, 2)}

Claude Code:  claude mcp add --transport http warren ${url}/mcp --header "Authorization: Bearer ${token}"

Ctrl-C stops everything.`);
}

function step(name: string, result: string): void {
  console.log(`${name.padEnd(17)} ${result}`);
}

function demoServer(): string {
  return createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js');
}
