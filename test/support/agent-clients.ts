import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

export interface ToolAnswer {
  content: { type: string; text?: string }[];
  structuredContent?: unknown;
  isError?: boolean;
  _meta?: Record<string, unknown>;
}

interface CallOptions {
  signal?: AbortSignal;
  onprogress?: (progress: { progress: number; total?: number }) => void;
}

/** What a test needs of an MCP client, whichever SDK it is. */
export interface AgentClient {
  tools(): Promise<unknown[]>;
  call(tool: string, args: Record<string, unknown>, options?: CallOptions): Promise<ToolAnswer>;
  close(): Promise<void>;
}

/** The clients agents are likely to carry. */
export const agentClients = {
  'SDK 2 (legacy era)': (url: string, token: string) => connect(url, token),
  'SDK 2 (2026-07-28)': (url: string, token: string) => connect(url, token, '2026-07-28'),
  'SDK 1.32': connectV1,
} as const satisfies Record<string, (url: string, token: string) => Promise<AgentClient>>;

export type AgentClientName = keyof typeof agentClients;

async function connect(url: string, token: string, pin?: string): Promise<AgentClient> {
  const client = new Client(
    { name: 'agent', version: '1' },
    pin === undefined ? {} : { versionNegotiation: { mode: { pin } } },
  );
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', url), { requestInit: authorized(token) }));
  return {
    tools: async () => (await client.listTools()).tools,
    call: (tool, args, options) => client.callTool({ name: tool, arguments: args }, options),
    close: () => client.close(),
  };
}

async function connectV1(url: string, token: string): Promise<AgentClient> {
  const client = new ClientV1({ name: 'agent', version: '1' });
  await client.connect(new TransportV1(new URL('/mcp', url), { requestInit: authorized(token) }));
  return {
    tools: async () => (await client.listTools()).tools,
    call: async (tool, args, options) =>
      (await client.callTool({ name: tool, arguments: args }, undefined, options)) as ToolAnswer,
    close: () => client.close(),
  };
}

function authorized(token: string): RequestInit {
  return { headers: { authorization: `Bearer ${token}` } };
}
