import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { canary } from '../canary/canary.js';
import type { ApiAnswer } from './api.js';
import { temporaryDataDirectory } from './temporary-data-directory.js';
import { startWarren, type TestWarren } from './warren.js';

/** What the misbehaving provider was started with. */
export interface Launched {
  environment?: Record<string, string>;
  arguments?: string[];
}

/** `/api/connections` of a real Warren. Remembers every answer, to look for secrets in them. */
export class ConnectionsApi {
  private readonly answers: string[] = [];
  private readonly secrets: string[] = [];

  private constructor(
    readonly warren: TestWarren,
    private readonly directory: string,
  ) {}

  static async start(): Promise<ConnectionsApi> {
    return new ConnectionsApi(await startWarren(), temporaryDataDirectory());
  }

  async stop(): Promise<void> {
    await this.warren.stop();
  }

  /** A secret value that no answer may hold. */
  readonly secret = (name: string): string => {
    const value = canary(name);
    this.secrets.push(value);
    return value;
  };

  async send(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<ApiAnswer> {
    const answer = await this.warren.api.send(method, `/api/connections${path}`, body, headers);
    this.answers.push(JSON.stringify([...answer.headers]) + (JSON.stringify(answer.body) ?? ''));
    return answer;
  }

  /** The body of an answer of this status; another status is an error. */
  async expect(status: number, method: string, path: string, body?: unknown): Promise<any> {
    const answer = await this.send(method, path, body);
    if (answer.status === status) return answer.body;
    throw new Error(`${method} ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  }

  read(id: string): Promise<any> {
    return this.expect(200, 'GET', `/${id}`);
  }

  change(id: string, body: Record<string, unknown>): Promise<any> {
    return this.expect(200, 'PATCH', `/${id}`, body);
  }

  /** The fields that a refused change names. */
  async refused(
    status: number,
    code: string,
    id: string,
    body: Record<string, unknown>,
  ): Promise<{ path: string; message: string }[]> {
    const problem = await this.expect(status, 'PATCH', `/${id}`, body);
    if (problem.code !== code) throw new Error(`refused with ${problem.code}, not ${code}: ${problem.detail}`);
    return problem.errors;
  }

  /** A connection that nothing stands behind, unless it is there already. */
  async ensureHttp(id: string, fields: Record<string, unknown> = {}): Promise<void> {
    const body = { id, name: id, transport: 'http', baseUrl: 'http://127.0.0.1/mcp', ...fields };
    const { status } = await this.send('POST', '', body);
    if (status !== 201 && status !== 409) throw new Error(`POST answered ${status}`);
  }

  /** A connection to the misbehaving provider, which writes down what it was started with. */
  createStdio(id: string, { args = [], environmentVariables = [], ...fields }: StdioFields): Promise<any> {
    return this.expect(201, 'POST', '', {
      id,
      name: id,
      transport: 'stdio',
      command: process.execPath,
      args: [resolve('test/providers/misbehaving-provider.mjs'), 'well', ...args],
      environmentVariables: [...environmentVariables, { name: 'FAKE_LOG', value: this.logOf(id) }],
      lifecycle: 'keep_alive',
      ...fields,
    });
  }

  /** Starts the provider by a discovery; what it was given this time. */
  async launched(id: string): Promise<Launched> {
    await this.expect(200, 'POST', `/${id}/discover`);
    const lines = (await readFile(this.logOf(id), 'utf8')).split('\n').filter((line) => line.includes('"start"'));
    return JSON.parse(lines.at(-1) ?? '{}') as Launched;
  }

  recorded(): number {
    return this.answers.length;
  }

  lastText(): string {
    return this.answers.at(-1) ?? '';
  }

  /** Secrets that an answer or the log held. */
  leaks(): string[] {
    const places = [...this.answers, this.warren.log()];
    return this.secrets.filter((secret) => places.some((text) => text.includes(secret)));
  }

  private logOf(id: string): string {
    return join(this.directory, `${id}.jsonl`);
  }
}

interface StdioFields extends Record<string, unknown> {
  args?: unknown[];
  environmentVariables?: unknown[];
}
