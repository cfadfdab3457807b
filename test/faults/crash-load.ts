import { type AgentId, AGENTS, type ConnectionId, CONNECTIONS, type CrashBench } from './crash-bench.js';

/** Callers of each connection, one an agent as far as they go. */
const CALLERS: Record<ConnectionId, number> = { line: 3, 'line-once': 1, stubborn: 2, web: 3, 'web-once': 2 };
/** Kept waiting until the end, on a session of each kind. */
const SLOW: readonly ConnectionId[] = ['line', 'stubborn', 'web', 'web-once'];
/** A caller that is not cut off by then never will be. */
const MOST_CALLS = 20_000;

/** What became of a call, by its caller; `cut` when the answer never came. */
export type Outcome = 'ok' | 'cut' | { code: string; sent: string };

/** Callers that call without a pause until Warren is gone. */
export class CrashLoad {
  /** Of every call asked for, by its number. */
  readonly outcomes = new Map<number, Outcome>();
  readonly slow: number[] = [];
  /** Resolves when every caller had a first answer. Errors: when Warren goes before. */
  readonly running: Promise<unknown>;
  /** Resolves when every caller was cut off. */
  readonly ended: Promise<unknown>;

  constructor(
    private readonly bench: CrashBench,
    private readonly nextNumber: () => number,
  ) {
    const callers = CONNECTIONS.flatMap((connection) =>
      Array.from({ length: CALLERS[connection] }, (_, index) => this.start(agentOf(index), connection)),
    );
    const slow = SLOW.map((connection, index) => {
      const number = this.nextNumber();
      this.slow.push(number);
      return this.call(agentOf(index), connection, 'slow', number);
    });
    this.running = Promise.all(callers.map(({ answered }) => answered));
    this.ended = Promise.all([...callers.map(({ ended }) => ended), ...slow]);
  }

  /** A call whose arrival at its provider is the end of the process with this id, at that moment. */
  async killByCall(connection: ConnectionId, pid: number): Promise<void> {
    const number = this.nextNumber();
    const call = { tool: 'record', arguments: { n: number, kills: pid } };
    this.outcomes.set(number, await callOnce(this.bench, agentOf(0), connection, call));
  }

  private start(agent: AgentId, connection: ConnectionId): { answered: Promise<void>; ended: Promise<void> } {
    let onAnswer: () => void = () => undefined;
    const answered = new Promise<void>((resolve) => (onAnswer = resolve));
    return { answered, ended: this.callOn(agent, connection, onAnswer) };
  }

  private async callOn(agent: AgentId, connection: ConnectionId, answered: () => void): Promise<void> {
    for (let calls = 0; calls < MOST_CALLS; calls += 1) {
      const outcome = await this.call(agent, connection, 'record', this.nextNumber());
      if (outcome === 'cut') return;
      answered();
    }
    throw new Error(`a caller of ${connection} was not cut off in ${MOST_CALLS} calls`);
  }

  private async call(agent: AgentId, provider: ConnectionId, tool: string, number: number): Promise<Outcome> {
    const outcome = await callOnce(this.bench, agent, provider, { tool, arguments: { n: number } });
    this.outcomes.set(number, outcome);
    return outcome;
  }
}

/** One call through the Warren that lives now. */
export async function callOnce(
  bench: CrashBench,
  agent: AgentId,
  provider: ConnectionId,
  call: { tool: string; arguments: Record<string, unknown> },
): Promise<Outcome> {
  try {
    const { status, body } = await bench.agent(agent).post(`/api/agents/${agent}/menu/mcp_call`, { provider, ...call });
    if (status !== 200) return { code: String(body.code), sent: 'no' };
    return body.ok === true ? 'ok' : { code: String(body.error.code), sent: String(body.error.sent) };
  } catch {
    // the connection to Warren broke
    return 'cut';
  }
}

function agentOf(index: number): AgentId {
  return AGENTS[index % AGENTS.length] ?? 'first';
}
