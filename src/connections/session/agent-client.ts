import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { version } from '../../version.js';

/** What an agent does at Warren's own `/mcp` endpoint; used to show that a fresh installation works. */
export interface AgentClient {
  protocolVersion: string | undefined;
  toolNames(): Promise<string[]>;
  /** The text of the answer. */
  call(tool: string, args: Record<string, unknown>): Promise<string>;
  close(): Promise<void>;
}

/** Connects to `<url>/mcp` with an agent's token. Errors: those of the MCP client. */
export async function connectAsAgent(url: string, token: string): Promise<AgentClient> {
  const client = new Client({ name: 'warren-quickstart', version }, { versionNegotiation: { mode: 'auto' } });
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', url), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  });
  await client.connect(transport);
  return {
    protocolVersion: client.getNegotiatedProtocolVersion(),
    toolNames: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (tool, args) => {
      const { content } = await client.callTool({ name: tool, arguments: args });
      return content.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('\n');
    },
    close: () => client.close(),
  };
}
