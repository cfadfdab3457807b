import type { CallReceipt } from '../../src/runtime/menu.answers.js';
import { FaultProxy } from '../support/fault-proxy.js';
import type { MenuBench } from '../support/menu-bench.js';
import { NetworkProvider } from './network-provider.js';

export type Lifecycle = 'ephemeral' | 'keep_alive';

/** Far beyond what any answer here takes, milliseconds. */
export const PATIENT_MS = 60_000;

/** What an answered call says. */
export const answerTo = (n: number) => ({ ok: true, content: [{ type: 'text', text: `answer ${n}` }] });

let lastNumber = 100_000;
/** Of one call; all have as many digits, so that none is part of another. */
export const nextNumber = (): number => (lastNumber += 1);

/** What a call says that a fault is meant for. */
export const markerOf = (n: number): string => `"n":${n}`;

/** One bench for each lifecycle and era. */
export function startAll(menu: MenuBench, fields: Record<string, unknown> = {}): Promise<NetworkBench[]> {
  return Promise.all(
    (['keep_alive', 'ephemeral'] as const).flatMap((lifecycle) =>
      (['legacy', 'modern'] as const).map((era) => {
        const id = `${lifecycle.replace('_', '-')}-${era}`;
        return NetworkBench.start(menu, id, new NetworkProvider(era), lifecycle, fields);
      }),
    ),
  );
}

/** One connection over a proxy to a provider of its own, and an agent that may call it. */
export class NetworkBench {
  private constructor(
    private readonly menu: MenuBench,
    readonly id: string,
    readonly provider: NetworkProvider,
    readonly proxy: FaultProxy,
    readonly lifecycle: Lifecycle,
  ) {}

  static async start(
    menu: MenuBench,
    id: string,
    provider: NetworkProvider,
    lifecycle: Lifecycle,
    fields: Record<string, unknown> = {},
  ): Promise<NetworkBench> {
    const proxy = new FaultProxy(await provider.start());
    const baseUrl = `${await proxy.open()}/mcp`;
    const settings = { id, name: id, transport: 'http', baseUrl, lifecycle, callTimeoutMs: PATIENT_MS, ...fields };
    await menu.api.expect(201, 'POST', '/api/connections?discover=true', settings);
    await menu.agent(`agent-${id}`, [`${id}/echo`, `${id}/hold`]);
    return new NetworkBench(menu, id, provider, proxy, lifecycle);
  }

  call(tool: 'echo' | 'hold', n: number): Promise<CallReceipt> {
    return this.menu.call(`agent-${this.id}`, { provider: this.id, tool, arguments: { n } });
  }

  /** How long what begins from now on may take, milliseconds; calls under way and the session stay as they are. */
  async setTimeouts(timeouts: { callTimeoutMs: number } | { connectTimeoutMs: number }): Promise<void> {
    await this.menu.change(this.id, timeouts);
  }

  /** Ends a lasting session; the next call opens another. */
  async stopSession(): Promise<void> {
    await this.menu.api.expect(200, 'POST', `/api/connections/${this.id}/stop`);
  }

  async stop(): Promise<void> {
    await this.proxy.stop();
    this.provider.stop();
  }
}

/** Runs a trial on several benches side by side. Errors: the first one, which names its bench. */
export async function onAll<T extends { id: string }>(
  benches: readonly T[],
  trial: (bench: T) => Promise<void>,
): Promise<void> {
  await Promise.all(
    benches.map(async (bench) => {
      try {
        await trial(bench);
      } catch (error) {
        throw new Error(`${bench.id}: ${(error as Error).message}`, { cause: error });
      }
    }),
  );
}
