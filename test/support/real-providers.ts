import path from 'node:path';
import type { Api } from './api.js';

/** Servers from npm that are installed here. */
export type RealServer = 'everything' | 'filesystem' | 'memory';

/** The program of a real server. */
export function realServer(name: RealServer): string {
  return path.resolve(`node_modules/@modelcontextprotocol/server-${name}/dist/index.js`);
}

/** The settings of a stdio connection to a real server; its arguments follow. */
export function overStdio(id: string, server: RealServer, ...args: string[]): Record<string, unknown> {
  return { id, name: id, transport: 'stdio', command: process.execPath, args: [realServer(server), ...args] };
}

/** Creates an agent with exactly these tools; the answer acts as that agent. */
export async function createAgent(api: Api, id: string, tools: Record<string, readonly string[]>): Promise<Api> {
  await api.expect(201, 'POST', '/api/agents', { id, name: id });
  const granted = Object.entries(tools).flatMap(([connectionId, names]) =>
    names.map((toolName) => ({ connectionId, toolName })),
  );
  await api.expect(200, 'PUT', `/api/agents/${id}/mcp-tools`, { tools: granted });
  const { token } = await api.expect<{ token: string }>(201, 'POST', `/api/agents/${id}/tokens`, {});
  return api.as(token);
}
