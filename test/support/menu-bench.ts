import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { CallReceipt } from '../../src/runtime/menu.answers.js';
import { canary } from '../canary/canary.js';
import type { Api } from './api.js';
import { temporaryDataDirectory } from './temporary-data-directory.js';
import { startWarren, type TestWarren } from './warren.js';

/** One message as the misbehaving provider saw it. */
export interface SeenMessage {
  event: 'start' | 'message';
  pid: number;
  id?: number | string;
  method?: string;
  params?: { name?: string; requestId?: number | string; arguments?: unknown };
}

const EVENTUALLY_MS = 10_000;
const POLL_MS = 20;

/** A Warren with connections to the misbehaving provider, and agents that use its menu over REST. */
export class MenuBench {
  private constructor(
    readonly warren: TestWarren,
    private readonly directory: string,
    private readonly tokens: Map<string, string>,
  ) {}

  static async start(environment: Record<string, string> = {}): Promise<MenuBench> {
    return new MenuBench(await startWarren({ environment }), temporaryDataDirectory(), new Map());
  }

  get api(): Api {
    return this.warren.api;
  }

  async stop(): Promise<void> {
    await this.warren.stop();
  }

  /** Saves and discovers a connection to the misbehaving provider; `name` defaults to the id. */
  async connect(id: string, fields: Record<string, unknown> = {}, ...more: string[]): Promise<void> {
    const connection = await this.api.expect(201, 'POST', '/api/connections?discover=true', {
      id,
      name: id,
      transport: 'stdio',
      command: process.execPath,
      args: this.launch('well', ...more),
      environmentVariables: [
        { name: 'FAKE_LOG', value: this.logOf(id) },
        { name: 'CANARY', value: canary(id) },
      ],
      lifecycle: 'keep_alive',
      ...fields,
    });
    if (connection.catalog === null) throw new Error(`not discovered: ${JSON.stringify(connection.warnings)}`);
  }

  /** Arguments that start the misbehaving provider in a mode. */
  launch(mode: string, ...more: string[]): string[] {
    return [resolve('test/providers/misbehaving-provider.mjs'), mode, ...more];
  }

  change(id: string, fields: Record<string, unknown>): Promise<unknown> {
    return this.api.expect(200, 'PATCH', `/api/connections/${id}`, fields);
  }

  /** An agent that holds these tools, as `connection/tool`. */
  async agent(id: string, grants: string[], fields: Record<string, unknown> = {}): Promise<void> {
    await this.api.expect(201, 'POST', '/api/agents', { id, name: id, ...fields });
    const { token } = await this.api.expect(201, 'POST', `/api/agents/${id}/tokens`, {});
    this.tokens.set(id, token);
    await this.grant(id, { add: grants });
  }

  async grant(id: string, { add = [], remove = [] }: { add?: string[]; remove?: string[] }): Promise<void> {
    const change = { add: add.map(toolKey), remove: remove.map(toolKey) };
    await this.api.expect(200, 'PATCH', `/api/agents/${id}/mcp-tools`, change);
  }

  /** Uses one tool of the menu as an agent; anything but 200 is an error. */
  menu(agentId: string, tool: string, body: unknown) {
    const token = this.tokens.get(agentId);
    return this.api.as(token).expect(200, 'POST', `/api/agents/${agentId}/menu/${tool}`, body);
  }

  call(agentId: string, body: unknown): Promise<CallReceipt> {
    return this.menu(agentId, 'mcp_call', body);
  }

  /** Begins a call that the caller can leave. */
  begin(agentId: string, body: unknown): { left: Promise<void>; leave(): void } {
    const controller = new AbortController();
    const left = fetch(new URL(`/api/agents/${agentId}/menu/mcp_call`, this.warren.url), {
      method: 'POST',
      headers: { authorization: `Bearer ${this.tokens.get(agentId)}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: controller.signal,
    }).then(
      () => undefined,
      () => undefined,
    );
    return { left, leave: () => controller.abort() };
  }

  /** What the provider of a connection saw. */
  async seen(connectionId: string): Promise<SeenMessage[]> {
    const lines = await readFile(this.logOf(connectionId), 'utf8').catch(() => '');
    return (
      lines
        .split('\n')
        // the last line may be half written
        .slice(0, -1)
        .map((line) => JSON.parse(line) as SeenMessage)
    );
  }

  /** The calls of a tool that reached the provider. */
  async arrivals(connectionId: string, tool: string): Promise<SeenMessage[]> {
    const seen = await this.seen(connectionId);
    return seen.filter(({ method, params }) => method === 'tools/call' && params?.name === tool);
  }

  /** Where the provider of a connection writes down what it saw. */
  logOf(connectionId: string): string {
    return join(this.directory, `${connectionId}.jsonl`);
  }
}

/** What `look` finds, as soon as it finds something. Errors: after ten seconds without. */
export async function eventually<T>(look: () => Promise<T | undefined>): Promise<T> {
  const deadline = performance.now() + EVENTUALLY_MS;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() > deadline) throw new Error('not seen within 10 s');
    await delay(POLL_MS);
  }
}

function toolKey(key: string): { connectionId: string; toolName: string } {
  const [connectionId = '', toolName = ''] = key.split('/');
  return { connectionId, toolName };
}
