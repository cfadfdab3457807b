import { agentClients, type AgentClientName } from '../support/agent-clients.js';
import type { Api } from '../support/api.js';
import { outcomeOfReceipt, outcomeOfToolAnswer, type Outcome } from './soak.outcome.js';

/** One that uses the menu as an agent. */
export interface Caller {
  /** Calls a tool with a number. Errors: when Warren does not answer as it should. */
  call(provider: string, tool: string, number: number, signal?: AbortSignal): Promise<Outcome>;
  close(): Promise<void>;
}

/** Over REST. */
export function restCaller(api: Api, agentId: string): Caller {
  return {
    call: async (provider, tool, number, signal) => {
      const body = JSON.stringify({ provider, tool, arguments: { n: number } });
      const response = await fetch(new URL(`/api/agents/${agentId}/menu/mcp_call`, api.url), {
        method: 'POST',
        headers: { authorization: `Bearer ${api.token}`, 'content-type': 'application/json' },
        body,
        signal: signal ?? null,
      }).catch(leftBy(signal));
      if (response === undefined) return { kind: 'left' };
      if (response.status !== 200) throw new Error(`HTTP ${response.status}: ${await response.text()}`);
      return outcomeOfReceipt((await response.json()) as Parameters<typeof outcomeOfReceipt>[0]);
    },
    close: () => Promise.resolve(),
  };
}

/** Over `/mcp`, with one of the clients that agents carry. */
export async function mcpCaller(client: AgentClientName, api: Api): Promise<Caller> {
  const connected = await agentClients[client](api.url, api.token ?? '');
  return {
    call: async (provider, tool, number, signal) => {
      const answer = await connected
        .call('mcp_call', { provider, tool, arguments: { n: number } }, signal === undefined ? {} : { signal })
        .catch(leftBy(signal));
      return answer === undefined ? { kind: 'left' } : outcomeOfToolAnswer(answer);
    },
    close: () => connected.close(),
  };
}

/** An error that only says that we left is none. */
function leftBy(signal: AbortSignal | undefined): (error: unknown) => undefined {
  return (error) => {
    if (signal?.aborted === true) return undefined;
    throw error;
  };
}
