import { eventually } from '../support/eventually.js';
import { CONNECTIONS, type House } from './soak.house.js';
import type { Ledger } from './soak.ledger.js';
import type { Outcome } from './soak.outcome.js';

export type Target = 'line' | 'web';

/** A wide deadline for what a fault waits for, milliseconds. */
export const SEEN_WITHIN_MS = 30_000;

/** Codes of calls whose session ends under them, or whose new session is not to be had yet. */
export const BROKEN = ['mcp_call_interrupted', 'mcp_provider_unreachable', 'busy'] as const;

/** One thing that goes wrong, done to one connection. */
export interface Fault {
  name: string;
  /** The ones it can be done to, by turns. */
  targets: readonly Target[];
  /** The codes that calls of others to this provider may be answered with meanwhile. */
  codes: readonly string[];
  /** Resolves when it was seen to happen. Errors: when it was not, or was answered otherwise than it should be. */
  fire(scene: Scene): Promise<void>;
}

/** What a fault works on. */
export class Scene {
  constructor(
    readonly house: House,
    private readonly ledger: Ledger,
    readonly target: Target,
    /** No two faults of one soak have the same. */
    readonly turn: number,
  ) {}

  /** Begins a call of the prober; the outcome is noted. */
  begin(
    tool: string,
    { signal, overMcp = false }: { signal?: AbortSignal; overMcp?: boolean } = {},
  ): { number: number; outcome: Promise<Outcome> } {
    const number = this.ledger.number();
    return { number, outcome: this.follow(number, tool, signal, overMcp) };
  }

  /** One call of the prober. */
  call(tool: string): Promise<Outcome> {
    return this.begin(tool).outcome;
  }

  /** A call that the provider has taken and does not answer. */
  async stuckCall(options: { signal?: AbortSignal; overMcp?: boolean } = {}): Promise<{
    number: number;
    outcome: Promise<Outcome>;
  }> {
    const stuck = this.begin('slow', options);
    // judged by whoever awaits it; until then it must not count as unhandled
    stuck.outcome.catch(() => undefined);
    await eventually(() => {
      const { arrived } = this.house.arrivals.of(stuck.number);
      if (!arrived) throw new Error('the slow call did not arrive');
    }, SEEN_WITHIN_MS);
    return stuck;
  }

  /** Until a call of the prober is answered. */
  async recover(): Promise<void> {
    await eventually(async () => expectAnswer(await this.call('echo')), SEEN_WITHIN_MS);
  }

  /** Processes of the stdio connection that Warren shows. */
  async processes(): Promise<number[]> {
    const { live } = await this.connection();
    return (live.processes ?? []).map(({ pid }: { pid: number }) => pid);
  }

  connection() {
    return this.house.api.expect(200, 'GET', this.path);
  }

  change(fields: Record<string, unknown>): Promise<unknown> {
    return this.house.api.expect(200, 'PATCH', this.path, fields);
  }

  get path(): string {
    return `/api/connections/${this.target}`;
  }

  private async follow(
    number: number,
    tool: string,
    signal: AbortSignal | undefined,
    overMcp: boolean,
  ): Promise<Outcome> {
    const caller = overMcp ? await this.house.mcpProber() : this.house.prober;
    try {
      const outcome = await caller.call(this.target, tool, number, signal);
      this.ledger.note(number, outcome);
      return outcome;
    } finally {
      if (overMcp) await caller.close();
    }
  }
}

/** The connections whose calls a fault of this one may disturb: over HTTP they share a provider. */
export function disturbed(target: Target): readonly string[] {
  return CONNECTIONS.filter((id) => id === target || (target === 'web' && id === 'web-once'));
}

export function expectAnswer(outcome: Outcome): void {
  if (outcome.kind !== 'answered') throw new Error(`not answered: ${JSON.stringify(outcome)}`);
}

export function expectCode(outcome: Outcome, code: string): void {
  if (outcome.kind !== 'refused' || outcome.code !== code) {
    throw new Error(`not answered with ${code}: ${JSON.stringify(outcome).slice(0, 500)}`);
  }
}
