import { eventually } from '../support/eventually.js';
import type { MenuBench } from '../support/menu-bench.js';
import { processesIn, type LivingProcess } from '../support/processes.js';
import { temporaryDataDirectory } from '../support/temporary-data-directory.js';
import { FAULT_PROVIDER, faultProvider } from './fault-bench.js';

/** What a provider starts, each one process beside itself. */
export const LITTERS = ['deaf', 'deaf-setsid', 'daemon'] as const;
/** Ample for a stop ladder, and for a start before it, on a loaded machine. */
export const BOUND_MS = 15_000;

/** Providers of every kind that leave something behind, each working in a directory by which all of it is found. */
export class Litterers {
  readonly ids: string[];
  private readonly directory = temporaryDataDirectory();

  constructor(
    private readonly bench: MenuBench,
    ending: string,
  ) {
    this.ids = LITTERS.map((litter) => `${ending}-${litter}`);
  }

  /** Saves them, without starting them. */
  async connect(fields: Record<string, unknown> = {}, ...modes: string[]): Promise<void> {
    const saved = LITTERS.map((litter, index) =>
      this.bench.api.expect(201, 'POST', `/api/connections`, {
        id: this.ids[index],
        name: this.ids[index],
        transport: 'stdio',
        ...faultProvider(litter, ...modes),
        cwd: this.directory,
        lifecycle: 'keep_alive',
        ...fields,
      }),
    );
    await Promise.all(saved);
  }

  each<T>(act: (id: string) => Promise<T>): Promise<T[]> {
    return Promise.all(this.ids.map(act));
  }

  async discover(): Promise<void> {
    await this.each((id) => this.bench.api.expect(200, 'POST', `/api/connections/${id}/discover`));
  }

  /** Resolves when every provider and its litter is there. */
  async started(): Promise<void> {
    await eventually(() => {
      const commands = this.living().map(({ command }) => command);
      for (const part of ['sleep 600', FAULT_PROVIDER]) {
        const found = commands.filter((command) => command.includes(part)).length;
        if (found !== LITTERS.length)
          throw new Error(`${found} of ${part}, not ${LITTERS.length}: ${commands.join('; ')}`);
      }
    }, BOUND_MS);
  }

  /** All that is there of them, or of these. */
  living(these?: readonly number[]): LivingProcess[] {
    return processesIn(this.directory).filter(({ pid }) => these?.includes(pid) ?? true);
  }

  /** So that none of them is started again, and none outlives a test that failed. */
  async end(): Promise<void> {
    await this.each((id) => this.bench.api.delete(`/api/connections/${id}`));
    this.kill();
  }

  kill(): void {
    for (const { pid } of this.living()) process.kill(pid, 'SIGKILL');
  }
}
