import { runJudge } from './conformance.command.js';
import type { House } from './conformance.house.js';

const INSPECTOR = { package: '@modelcontextprotocol/inspector', command: 'mcp-inspector' };
const LIMIT_MS = 30_000;

/** Inspector's word for how it opens: `initialize` or the revision 2026-07-28. */
export const eras = ['legacy', 'modern'] as const;
export type InspectorEra = (typeof eras)[number];

/** What Inspector's command line printed for one era. */
export interface Inspection {
  tools: string[];
  /** The first text of the called tool. */
  answer: string;
  /** The id of the call, under which Warren keeps its receipt. */
  callId: string;
}

/** Lists the menu and calls one tool through it, straight at Warren with a bearer header. Errors: when either fails. */
export async function inspect({ warren, agent, behind }: House, era: InspectorEra, home: string): Promise<Inspection> {
  const target = ['--cli', '--server-url', `${warren.url}/mcp`, '--transport', 'http', '--stored-auth-only'];
  const header = ['--header', `Authorization: Bearer ${agent.token ?? ''}`, '--protocol-era', era];
  const ask = async <T>(...args: string[]): Promise<T> => {
    const ended = await runJudge(INSPECTOR, [...target, ...header, '--format', 'json', '-q', ...args], home, LIMIT_MS);
    if (ended.code !== 0) throw new Error(`Inspector ended with ${ended.code}: ${ended.errors}`);
    return (JSON.parse(ended.output) as { result: T }).result;
  };
  const listed = await ask<{ tools: { name: string }[] }>('--method', 'tools/list');
  const args = JSON.stringify({ provider: behind.provider, tool: 'test_simple_text', arguments: {} });
  const call = ['--method', 'tools/call', '--tool-name', 'mcp_call', '--tool-args-json', args];
  const called = await ask<{ content: { text: string }[]; _meta: Record<string, string> }>(...call);
  return {
    tools: listed.tools.map(({ name }) => name),
    answer: called.content[0]?.text ?? '',
    callId: called._meta['warren/callId'] ?? '',
  };
}

/** What Inspector says to a token that Warren does not know: its exit code and its error. */
export async function inspectWithout({ warren }: House, home: string): Promise<{ code: number; errors: string }> {
  const target = ['--cli', '--server-url', `${warren.url}/mcp`, '--transport', 'http', '--stored-auth-only'];
  const header = ['--header', 'Authorization: Bearer nobody', '--format', 'json', '-q'];
  return runJudge(INSPECTOR, [...target, ...header, '--method', 'tools/list'], home, LIMIT_MS);
}
