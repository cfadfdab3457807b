import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { CallReceipt } from '../src/runtime/menu.answers.js';
import { BOTH, modern, rpc } from './mcp-endpoint.messages.js';
import { Api } from './support/api.js';
import { eventually } from './support/eventually.js';
import { createAgent } from './support/real-providers.js';
import { temporaryDataDirectory } from './support/temporary-data-directory.js';
import type { TestWarren } from './support/warren.js';

const PROVIDER = resolve('test/providers/patient-provider.mjs');
/** Wide: only the order of events counts. */
const SEEN_WITHIN_MS = 20_000;

/** Every transport and era of a provider. */
export const providerKinds = {
  'stdio-legacy': ['stdio', 'legacy'],
  'stdio-modern': ['stdio', 'modern'],
  'http-legacy-json': ['http', 'legacy', 'json'],
  'http-legacy-events': ['http', 'legacy', 'events'],
  'http-modern-json': ['http', 'modern', 'json'],
  'http-modern-events': ['http', 'modern', 'events'],
  'sse-legacy': ['sse', 'legacy'],
} as const;

export type ProviderKind = keyof typeof providerKinds;

export interface ProviderEvent {
  pid: number;
  event: 'started' | 'call' | 'cancelled' | 'closed' | 'late' | 'resumed' | 'ended';
  id?: number;
  requestId?: number;
  name?: string;
  n?: number;
  token?: unknown;
}

/** A provider that writes down what becomes of its calls, saved as a connection. */
export class PatientProvider {
  private constructor(
    readonly id: string,
    readonly kind: ProviderKind,
    private readonly logFile: string,
    readonly stop: () => Promise<void>,
  ) {}

  /** Starts it where it is no stdio provider, saves and discovers its connection. */
  static async connect(
    api: Api,
    id: string,
    kind: ProviderKind,
    fields: Record<string, unknown> = {},
  ): Promise<PatientProvider> {
    const logFile = join(temporaryDataDirectory(), 'provider.jsonl');
    const args = [PROVIDER, ...providerKinds[kind]];
    let stop = async (): Promise<void> => undefined;
    let launch: Record<string, unknown>;
    if (kind.startsWith('stdio')) {
      const environmentVariables = [{ name: 'FAKE_LOG', value: logFile }];
      launch = { transport: 'stdio', command: process.execPath, args, environmentVariables };
    } else {
      const child = spawn(process.execPath, args, { env: { FAKE_LOG: logFile }, stdio: ['pipe', 'pipe', 'inherit'] });
      const exited = once(child, 'exit');
      stop = async () => {
        child.stdin.end();
        await exited;
      };
      const [url] = (await once(child.stdout, 'data')) as [Buffer];
      launch = { transport: 'http', baseUrl: url.toString().trim() };
    }
    const body = { id, name: id, lifecycle: 'keep_alive', ...launch, ...fields };
    const connection = await api.expect(201, 'POST', '/api/connections?discover=true', body);
    if (connection.catalog === null) throw new Error(`not discovered: ${JSON.stringify(connection.warnings)}`);
    return new PatientProvider(id, kind, logFile, stop);
  }

  async events(): Promise<ProviderEvent[]> {
    const lines = (await readFile(this.logFile, 'utf8').catch(() => '')).split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line) as ProviderEvent);
  }

  /** The first event that matches, as soon as it is there. Errors: after 20 s without. */
  seen(matches: (event: ProviderEvent) => boolean, what: string): Promise<ProviderEvent> {
    return eventually(async () => {
      const events = await this.events();
      const found = events.find(matches);
      if (found === undefined) throw new Error(`${this.id} never saw ${what}: ${JSON.stringify(events)}`);
      return found;
    }, SEEN_WITHIN_MS);
  }

  /** The id under which call `n` of a tool reached the provider. */
  async arrived(n: number, tool = 'hold'): Promise<ProviderEvent> {
    return this.seen(({ event, name, n: number }) => event === 'call' && name === tool && number === n, `call ${n}`);
  }
}

/** The token by which an agent asks for progress. */
export type ProgressToken = string | number | undefined;

/** A call under way. */
export interface RunningCall {
  /** Cancels it the way this kind of caller does. */
  cancel(): Promise<void>;
  /** What was answered: a receipt, or what a tool call over MCP gives; undefined where nothing was. */
  answer: Promise<any>;
  /** Everything that came, the answer last. */
  messages: Promise<any[]>;
}

/** An agent and how it reaches a Warren. */
export class Caller {
  private requests = 0;

  private constructor(
    readonly agentId: string,
    readonly api: Api,
    private readonly operator: Api,
    readonly session = `session-of-${agentId}`,
  ) {}

  /** A new agent that holds every tool of these providers. */
  static async create(api: Api, agentId: string, providers: readonly PatientProvider[]): Promise<Caller> {
    const tools = ['hold', 'release', 'state', 'steps', 'ticks'];
    const granted = Object.fromEntries(providers.map(({ id }) => [id, tools]));
    return new Caller(agentId, await createAgent(api, agentId, granted), api);
  }

  /** The same agent at another replica. */
  at({ url }: TestWarren): Caller {
    return new Caller(this.agentId, new Api(url, this.api.token), this.operator);
  }

  /** The same agent as a client that got no session id. */
  withoutSession(): Caller {
    return new Caller(this.agentId, this.api, this.operator, '');
  }

  /** One call over REST, to its end. */
  async call(provider: PatientProvider, tool: string, args: Record<string, unknown> = {}): Promise<CallReceipt> {
    const body = { provider: provider.id, tool, arguments: args };
    return this.api.expect(200, 'POST', `/api/agents/${this.agentId}/menu/mcp_call`, body);
  }

  /** What the provider says of itself. */
  async state(provider: PatientProvider): Promise<{ pid: number; holding: number; exchanges: number }> {
    const { content } = await this.call(provider, 'state');
    return JSON.parse((content[0] as { text?: string } | undefined)?.text ?? '');
  }

  /** Begins a call over REST; its caller cancels by going away. */
  overRest(provider: PatientProvider, tool: string, args: Record<string, unknown>): RunningCall {
    const body = { provider: provider.id, tool, arguments: args };
    return this.leavable(`/api/agents/${this.agentId}/menu/mcp_call`, body, {});
  }

  /** Begins a call over `/mcp` in the era of 2026-07-28; its caller cancels by leaving the answer's stream. */
  overModernMcp(
    provider: PatientProvider,
    tool: string,
    args: Record<string, unknown>,
    progressToken?: ProgressToken,
  ): RunningCall {
    const [body, headers] = modern('tools/call', menuCall(provider, tool, args));
    const { params } = body as { params: { _meta: object } };
    params._meta = { ...params._meta, progressToken };
    return this.leavable('/mcp', body, headers);
  }

  /** Begins a call over `/mcp` in an earlier era, by a caller that goes away. */
  overLegacyMcp(
    provider: PatientProvider,
    tool: string,
    args: Record<string, unknown>,
    progressToken?: ProgressToken,
  ): RunningCall {
    const params = { ...menuCall(provider, tool, args), _meta: { progressToken } };
    return this.leavable('/mcp', rpc((this.requests += 1), 'tools/call', params), { 'mcp-session-id': this.session });
  }

  /** The same, by a caller that says that it cancels. */
  overNotifiedMcp(
    provider: PatientProvider,
    tool: string,
    args: Record<string, unknown>,
    requestId: string | number = (this.requests += 1),
  ): RunningCall {
    const body = rpc(requestId, 'tools/call', menuCall(provider, tool, args));
    const { answer, messages } = this.leavable('/mcp', body, { 'mcp-session-id': this.session });
    return { answer, messages, cancel: () => this.sendCancel(requestId) };
  }

  /** Posts `notifications/cancelled`. */
  async sendCancel(requestId: unknown, session = this.session): Promise<void> {
    const body = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } };
    const { status } = await this.api.post('/mcp', body, { accept: BOTH, 'mcp-session-id': session });
    if (status !== 202) throw new Error(`the cancellation was answered ${status}`);
  }

  /** The receipt of the last call that ended this way. */
  receipt(provider: PatientProvider, code: string): Promise<any> {
    return eventually(async () => {
      const asked = `/api/calls?agentId=${this.agentId}&connectionId=${provider.id}&code=${code}&limit=1`;
      const { body } = await this.operator.get(asked);
      if (body.items[0] === undefined) throw new Error(`no receipt of ${this.agentId} with ${code}`);
      return body.items[0];
    }, SEEN_WITHIN_MS);
  }

  private leavable(path: string, body: unknown, headers: Record<string, string>): RunningCall {
    const controller = new AbortController();
    const messages = fetch(new URL(path, this.api.url), {
      method: 'POST',
      headers: {
        authorization: `Bearer ${this.api.token}`,
        'content-type': 'application/json',
        accept: BOTH,
        ...headers,
      },
      body: JSON.stringify(body),
      signal: controller.signal,
    }).then(
      async (response) => messagesIn(await response.text().catch(() => '')),
      () => [],
    );
    const answer = messages.then((all) => all.at(-1));
    return {
      answer,
      messages,
      cancel: async () => {
        controller.abort();
        await answer;
      },
    };
  }
}

function menuCall(provider: PatientProvider, tool: string, args: Record<string, unknown>): Record<string, unknown> {
  return { name: 'mcp_call', arguments: { provider: provider.id, tool, arguments: args } };
}

/** Of an answer in JSON or in events. */
function messagesIn(text: string): any[] {
  if (text.startsWith('{')) return [JSON.parse(text)];
  return text.split('\n').flatMap((line) => (line.startsWith('data: {') ? [JSON.parse(line.slice(6))] : []));
}
