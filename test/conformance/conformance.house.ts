import path from 'node:path';
import { createAgent } from '../support/real-providers.js';
import type { Api } from '../support/api.js';
import { startWarren, type TestWarren } from '../support/warren.js';
import type { ToolsBehind } from './conformance.readdressed.js';

export const PROVIDER = 'conformance';

/** A Warren with one provider, and an agent that holds all of its tools. */
export interface House {
  warren: TestWarren;
  /** With its token. */
  agent: Api;
  behind: ToolsBehind;
}

/** `warren.stop()` at the end. Errors: when the provider cannot be discovered; Warren is stopped then. */
export async function startHouse(): Promise<House> {
  const warren = await startWarren();
  try {
    await warren.api.expect(201, 'POST', '/api/connections?discover=true', {
      id: PROVIDER,
      name: PROVIDER,
      transport: 'stdio',
      command: process.execPath,
      args: [path.resolve('test/conformance/conformance.provider.mjs')],
      lifecycle: 'keep_alive',
    });
    const listed = await warren.api.expect<{ items: { name: string }[] }>(
      200,
      'GET',
      `/api/connections/${PROVIDER}/tools`,
    );
    const tools = listed.items.map(({ name }) => name);
    const agent = await createAgent(warren.api, 'judge', { [PROVIDER]: tools });
    return { warren, agent, behind: { provider: PROVIDER, tools } };
  } catch (error) {
    await warren.stop();
    throw error;
  }
}
