import type { RevocationBench } from './revocation.bench.js';
import { WORKER } from './revocation.bench.js';
import type { Api } from './support/api.js';

/** What a caller that lost its permission is told. */
const REFUSALS = new Set(['mcp_tool_not_granted', 'mcp_provider_not_available', 'mcp_tool_not_found']);
/**
 * What a call under way may end with when permission, session or (in a paused process) transaction goes; `busy` when each
 * of its admissions was granted too shortly before the token expired.
 */
const ENDINGS = new Set([
  'mcp_call_cancelled',
  'mcp_call_interrupted',
  'mcp_provider_unreachable',
  'database_unavailable',
  'busy',
]);
/** A caller that is not refused by then never will be. */
const MOST_CALLS = 5_000;

/**
 * Callers that call without a pause. One that is refused before the revocation is acknowledged calls again afterwards;
 * a refusal then ends it.
 */
export class Callers {
  /** Of every call asked for. */
  readonly numbers = new Set<number>();
  refusedAfter = 0;
  /** Calls asked for after the acknowledgement and answered with a result: none, if revocation holds. */
  answeredAfter = 0;
  /** Resolves when every caller had a first answer. */
  readonly running: Promise<unknown>;
  /** Resolves when every caller was refused after the acknowledgement. Errors: any answer that is not foreseen. */
  readonly ended: Promise<unknown>;
  private isAcknowledged = false;
  private readonly acknowledged: Promise<void>;
  private resolveAcknowledged: () => void = () => undefined;

  constructor(
    private readonly bench: RevocationBench,
    callers: readonly { api: Api; connection: string }[],
  ) {
    this.acknowledged = new Promise((resolve) => (this.resolveAcknowledged = resolve));
    const started = callers.map((caller) => this.start(caller.api, caller.connection));
    this.ended = Promise.all(started.map(({ ended }) => ended));
    this.running = Promise.race([Promise.all(started.map(({ running }) => running)), this.ended]);
  }

  /** The revocation was answered. */
  acknowledge(): void {
    this.isAcknowledged = true;
    this.resolveAcknowledged();
  }

  private start(api: Api, connection: string): { running: Promise<void>; ended: Promise<void> } {
    let answered: () => void = () => undefined;
    const running = new Promise<void>((resolve) => (answered = resolve));
    return { running, ended: this.call(api, connection, answered) };
  }

  private async call(api: Api, connection: string, answered: () => void): Promise<void> {
    for (let calls = 0; calls < MOST_CALLS; calls += 1) {
      const number = this.bench.nextNumber();
      const askedAfter = this.isAcknowledged;
      this.numbers.add(number);
      const outcome = await callTool(api, connection, 'record', number);
      answered();
      if (outcome === 'ok') {
        if (askedAfter) this.answeredAfter += 1;
      } else if (isRefusal(outcome)) {
        if (askedAfter) {
          this.refusedAfter += 1;
          return;
        }
        await this.acknowledged;
      } else if (!ENDINGS.has(outcome)) throw new Error(`call ${number} of ${connection} was answered ${outcome}`);
    }
    throw new Error(`a caller of ${connection} was not refused in ${MOST_CALLS} calls`);
  }
}

/** `ok`, the code of the menu's error, or the code of the problem. */
export async function callTool(
  api: Api,
  provider: string,
  tool: string,
  number: number,
  more: Record<string, unknown> = {},
): Promise<string> {
  const call = { provider, tool, arguments: { n: number, ...more } };
  const { status, body } = await api.post(`/api/agents/${WORKER}/menu/mcp_call`, call);
  if (status !== 200) return String(body.code);
  return body.ok === true ? 'ok' : String(body.error.code);
}

function isRefusal(outcome: string): boolean {
  return REFUSALS.has(outcome) || outcome === 'unauthenticated' || outcome === 'agent_not_found';
}
