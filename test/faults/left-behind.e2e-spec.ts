import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { MenuBench } from '../support/menu-bench.js';
import { processesIn } from '../support/processes.js';
import { temporaryDataDirectory } from '../support/temporary-data-directory.js';
import { FAULT_PROVIDER, faultProvider } from './fault-bench.js';

/** What a provider starts, each one process beside itself. */
const LITTERS = ['deaf', 'deaf-setsid', 'daemon'] as const;
type Litter = (typeof LITTERS)[number];
/** Ample for a stop ladder, and for a start before it, on a loaded machine. */
const BOUND_MS = 15_000;

/** Providers of every kind that leave something behind, each working in a directory by which all of it is found. */
class Litterers {
  private readonly directory = temporaryDataDirectory();
  readonly ids: string[];

  constructor(
    private readonly bench: MenuBench,
    private readonly ending: string,
  ) {
    this.ids = LITTERS.map((litter) => `${ending}-${litter}`);
  }

  /** Starts them by discovery, where a session lasts that long. */
  async connect(fields: Record<string, unknown> = {}, ...modes: string[]): Promise<void> {
    const saved = LITTERS.map((litter) =>
      this.bench.api.expect(201, 'POST', `/api/connections`, {
        id: `${this.ending}-${litter}`,
        name: `${this.ending}-${litter}`,
        transport: 'stdio',
        ...faultProvider(litter, ...modes),
        cwd: this.directory,
        lifecycle: 'keep_alive',
        ...fields,
      }),
    );
    await Promise.all(saved);
  }

  each(act: (id: string, litter: Litter) => Promise<unknown>): Promise<unknown[]> {
    return Promise.all(LITTERS.map((litter) => act(`${this.ending}-${litter}`, litter)));
  }

  discover(): Promise<unknown[]> {
    return this.each((id) => this.bench.api.expect(200, 'POST', `/api/connections/${id}/discover`));
  }

  /** So that none of them is started again. */
  async delete(): Promise<void> {
    await this.each((id) => this.bench.api.delete(`/api/connections/${id}`));
  }

  living() {
    return processesIn(this.directory);
  }

  /** Resolves when every provider and its litter is there. */
  async started(): Promise<void> {
    await eventually(() => {
      const commands = this.living().map(({ command }) => command);
      expect(commands.filter((command) => command.startsWith('sleep'))).toHaveLength(LITTERS.length);
      expect(commands.filter((command) => command.includes(FAULT_PROVIDER))).toHaveLength(LITTERS.length);
    }, BOUND_MS);
  }

  /** Resolves when nothing of them is left, or nothing of these. */
  async gone(these?: readonly number[]): Promise<void> {
    const left = () => this.living().filter(({ pid }) => these?.includes(pid) ?? true);
    await eventually(() => expect(left()).toEqual([]), BOUND_MS);
  }
}

describe('nothing of a provider is left', () => {
  let bench: MenuBench;
  let litterers: Litterers;

  beforeAll(async () => {
    bench = await MenuBench.start();
  });

  afterEach(async () => {
    await litterers.delete();
    for (const { pid } of litterers.living()) process.kill(pid, 'SIGKILL');
  });

  afterAll(async () => {
    await bench.stop();
  });

  it.each([
    { ending: 'stop', end: (id: string) => bench.api.expect(200, 'POST', `/api/connections/${id}/stop`) },
    { ending: 'delete', end: (id: string) => bench.api.expect(204, 'DELETE', `/api/connections/${id}`) },
  ])('when $ending is answered', async ({ ending, end }) => {
    litterers = new Litterers(bench, ending);
    await litterers.connect();
    await litterers.discover();
    await litterers.started();
    await litterers.each(end);
    expect(litterers.living()).toEqual([]);
  });

  it.each([
    { ending: 'disabled', end: (id: string) => bench.change(id, { enabled: false }) },
    { ending: 'made-ephemeral', end: (id: string) => bench.change(id, { lifecycle: 'ephemeral' }) },
    {
      ending: 'killed',
      end: async (id: string) => {
        const { live } = await bench.api.expect(200, 'GET', `/api/connections/${id}`);
        process.kill(live.processes[0].pid, 'SIGKILL');
      },
    },
  ])('soon after the provider is $ending', async ({ ending, end }) => {
    litterers = new Litterers(bench, ending);
    await litterers.connect();
    await litterers.discover();
    await litterers.started();
    // one that was killed may be started again by itself
    const before = litterers.living().map(({ pid }) => pid);
    await litterers.each(end);
    await litterers.gone(before);
  });

  it('soon after a call on a session of its own has timed out', async () => {
    const callTimeoutMs = 2_000;
    litterers = new Litterers(bench, 'timeout');
    await litterers.connect({ lifecycle: 'ephemeral', callTimeoutMs });
    await litterers.discover();
    await litterers.gone();
    await bench.agent(
      'timeout',
      litterers.ids.map((id) => `${id}/hold`),
    );
    const calls = litterers.each((provider) => bench.call('timeout', { provider, tool: 'hold' }));
    await litterers.started();
    for (const answer of await calls) {
      expect(answer).toMatchObject({ ok: false, error: { code: 'mcp_call_timeout', sent: 'maybe' } });
    }
    await litterers.gone();
  });

  it('soon after its start has timed out', async () => {
    litterers = new Litterers(bench, 'mute');
    await litterers.connect({ connectTimeoutMs: 4_000 }, 'mute');
    const starts = litterers.each((id) => bench.api.post(`/api/connections/${id}/start`));
    await litterers.started();
    expect(await starts).toMatchObject(LITTERS.map(() => ({ body: { reason: 'handshake_timeout' } })));
    await litterers.gone();
  });
});

describe('nothing of any provider is left', () => {
  it('when Warren has ended after SIGTERM', async () => {
    const bench = await MenuBench.start();
    const litterers = new Litterers(bench, 'term');
    let stopped: Promise<number | null> | undefined;
    try {
      await litterers.connect();
      await litterers.discover();
      await litterers.started();
      const begun = performance.now();
      stopped = bench.warren.stop();
      expect(await stopped).toBe(0);
      const took = performance.now() - begun;
      expect(litterers.living()).toEqual([]);
      process.stdout.write(`Warren ended ${took.toFixed(0)} ms after SIGTERM, with deaf providers\n`);
      expect(took).toBeLessThan(30_000);
    } finally {
      await (stopped ?? bench.stop());
      for (const { pid } of litterers.living()) process.kill(pid, 'SIGKILL');
    }
  });
});
