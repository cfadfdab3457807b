import { Ajv, type ValidateFunction } from 'ajv';
import type { Api } from './api.js';

export interface ChosenTool {
  provider: string;
  tool: string;
}

export interface TaskRun {
  chosen: ChosenTool | undefined;
  /** Place of the chosen tool among the hits, from 1. */
  place: number | undefined;
  turns: number;
  /** What a model would have read, bytes of JSON: every answer of the menu. */
  bytesSeen: number;
  ok: boolean;
}

interface Hit {
  provider: string;
  name: string;
  granted: boolean;
  inputSchema?: { properties?: Record<string, unknown> };
}

const MAX_TURNS = 2;

/**
 * Stands in for a model that knows nothing but the three tools. Turn 1 asks `mcp_capabilities` with the task as
 * written; turn 2 calls the first granted hit whose schema knows every argument and accepts them. It never looks at the
 * names of tools.
 */
export class ScriptedAgent {
  private readonly ajv = new Ajv({ strict: false, validateFormats: false, logger: false });

  constructor(
    private readonly api: Api,
    private readonly agentId: string,
  ) {}

  async solve(task: string, args: Record<string, unknown>): Promise<TaskRun> {
    const run: TaskRun = { chosen: undefined, place: undefined, turns: 0, bytesSeen: 0, ok: false };
    const { tools } = await this.turn<{ tools: Hit[] }>(run, 'mcp_capabilities', { query: task });
    const index = tools.findIndex((hit) => hit.granted && this.takes(hit, args));
    const hit = tools[index];
    if (hit === undefined) return run;
    run.chosen = { provider: hit.provider, tool: hit.name };
    run.place = index + 1;
    const { ok } = await this.turn<{ ok: boolean }>(run, 'mcp_call', { ...run.chosen, arguments: args });
    return { ...run, ok };
  }

  private async turn<T>(run: TaskRun, tool: string, body: unknown): Promise<T> {
    run.turns += 1;
    if (run.turns > MAX_TURNS) throw new Error('out of turns');
    const answer = await this.api.expect<T>(200, 'POST', `/api/agents/${this.agentId}/menu/${tool}`, body);
    run.bytesSeen += Buffer.byteLength(JSON.stringify(answer));
    return answer;
  }

  /** A hit that shows no schema cannot be filled in; a parameter that no schema names would not be given. */
  private takes({ inputSchema }: Hit, args: Record<string, unknown>): boolean {
    if (inputSchema === undefined) return false;
    const known = Object.keys(args).every((name) => name in (inputSchema.properties ?? {}));
    return known && this.compiled(inputSchema)?.(args) === true;
  }

  private compiled(schema: object): ValidateFunction | undefined {
    // recorded schemas come in several dialects; keywords are what matters here
    const { $schema: _, ...keywords } = schema as { $schema?: unknown };
    try {
      return this.ajv.compile(keywords);
    } catch {
      return undefined;
    }
  }
}
