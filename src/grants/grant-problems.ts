import { ProblemError, type FieldProblem } from '../errors.js';
import { type NamedTool, ToolKeySet } from './tool-key.js';

/** Grants one agent can hold, and tools one request can name. A whole set must fit one PUT. */
export const MAX_GRANTS_PER_AGENT = 5_000;
/** Agent and tool pairs of one `apply`. */
export const MAX_PAIRS = 1_000;

/** What is known about a tool that is to be granted. */
export interface WantedFacts {
  provider_known: boolean;
  /** Null when the tool is not in the catalog, or hidden there. */
  definition_hash: string | null;
  held_by_all: boolean;
}

/**
 * Refuses grants of what does not exist, naming every offender; `facts` runs parallel to `wanted`. A grant that all the
 * agents hold already may stay, whatever became of its tool.
 * Errors: `grant_unknown_connection` when any connection is unknown, else `grant_unknown_tool`.
 */
export function refuseUnknown(wanted: readonly NamedTool[], facts: readonly WantedFacts[]): void {
  const errors: FieldProblem[] = [];
  let connections = 0;
  for (const [index, { path }] of wanted.entries()) {
    const fact = facts[index];
    if (fact === undefined || !fact.provider_known) {
      connections += 1;
      errors.push({ path: `${path}.connectionId`, message: 'is not a known connection' });
    } else if (fact.definition_hash === null && !fact.held_by_all) {
      errors.push({ path: `${path}.toolName`, message: 'is not in the catalog of this connection' });
    }
  }
  if (errors.length === 0) return;
  throw connections > 0
    ? new ProblemError('grant_unknown_connection', 'A connection is not known; nothing was changed.', { errors })
    : new ProblemError('grant_unknown_tool', 'A tool is not in its catalog; nothing was changed.', { errors });
}

/** Errors: `validation_failed` naming each tool that is both to be added and to be removed. */
export function refuseOverlap(add: readonly NamedTool[], remove: readonly NamedTool[]): void {
  const added = new ToolKeySet(add);
  const errors = remove.filter((tool) => added.has(tool)).map(({ path }) => ({ path, message: 'is also in add' }));
  if (errors.length > 0) {
    throw new ProblemError('validation_failed', 'A tool cannot be both in add and in remove.', { errors });
  }
}

/** Errors: `validation_failed` when the request is larger than one transaction should be. */
export function refuseTooManyPairs(agents: number, tools: number): void {
  const pairs = agents * tools;
  if (pairs <= MAX_PAIRS) return;
  const message = `${agents} agents and ${tools} tools are ${pairs} pairs; at most ${MAX_PAIRS} fit one request`;
  throw new ProblemError('validation_failed', `${message}.`, { errors: [{ path: 'agentIds', message }] });
}

/** Errors: `grant_unknown_agent` naming each agent of the request that does not exist. */
export function refuseUnknownAgents(agentIds: readonly string[], known: ReadonlySet<string>): void {
  const errors = agentIds.flatMap((id, index) =>
    known.has(id) ? [] : [{ path: `agentIds[${index}]`, message: 'is not a known agent' }],
  );
  if (errors.length > 0) {
    throw new ProblemError('grant_unknown_agent', 'An agent is not known; nothing was changed.', { errors });
  }
}
