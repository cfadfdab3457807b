import { familyOf, type FamilyHead } from './process-family.js';
import type { ProcessTable } from './process-table.js';
import { lookUntil, StrayProcesses } from './stray-processes.js';
import { systemErrorCode } from './system-error.js';

/** From TERM to KILL, milliseconds. */
const TERM_GRACE_MS = 1_000;
/** After KILL the kernel needs a moment; more than this means a process stuck in the kernel. */
const KILL_WAIT_MS = 500;

/**
 * Ends a process group and everything its leader started that went to a group of its own: with `setsid`, as a daemon
 * does, or as a browser is launched.
 */
export class StopLadder {
  private readonly strays = new StrayProcesses();
  /** Those of the group; a signal does not tell the living from the dead that nobody reaps. */
  private readonly members = new StrayProcesses();
  private seesProcesses = false;
  private groupTold: 'SIGTERM' | 'SIGKILL' | undefined;
  /** Once seen, for ever: the id may be another's later. */
  private groupIsGone = false;
  private allAreGone = false;
  private running: Promise<void> | undefined;

  /** `head` leads the group. */
  constructor(
    private readonly head: FamilyHead,
    private readonly table: ProcessTable,
  ) {}

  /** Takes note of who went astray. Whose child they are is known only while their parents live. */
  async look(): Promise<void> {
    if (this.allAreGone) return;
    const table = await this.table.read();
    this.seesProcesses = table.length > 0;
    this.members.add(table.filter(({ group }) => group === this.head.pid));
    this.strays.add(familyOf(table, this.head).filter(({ group }) => group !== this.head.pid));
  }

  /** TERM to all, KILL after 1 s to those left; resolves when nobody is left, after 1.5 s at the latest. */
  end(): Promise<void> {
    if (this.allAreGone) return Promise.resolve();
    this.running ??= this.run().finally(() => {
      this.running = undefined;
    });
    return this.running;
  }

  /** KILL to all that can be found, without a grace; for when there is no time for the ladder. */
  async kill(): Promise<void> {
    await this.look();
    this.tell('SIGKILL');
  }

  private async run(): Promise<void> {
    const termEnd = performance.now() + TERM_GRACE_MS;
    const killEnd = termEnd + KILL_WAIT_MS;
    this.tell('SIGTERM');
    for (;;) {
      // somebody new may have come while the others left
      await this.look();
      this.allAreGone = this.areGone();
      if (this.allAreGone || performance.now() >= killEnd) return;
      const isLate = performance.now() >= termEnd;
      this.tell(isLate ? 'SIGKILL' : 'SIGTERM');
      await lookUntil(isLate ? killEnd : termEnd, () => this.areGone());
    }
  }

  private tell(signal: 'SIGTERM' | 'SIGKILL'): void {
    if (this.groupTold !== signal) this.signalGroup(signal);
    this.groupTold = signal;
    this.strays.tell(signal);
  }

  private areGone(): boolean {
    return (!this.signalGroup(0) || (this.seesProcesses && this.members.areGone)) && this.strays.areGone;
  }

  /** False when no process of the group is left. */
  private signalGroup(signal: NodeJS.Signals | 0): boolean {
    if (this.groupIsGone) return false;
    try {
      process.kill(-this.head.pid, signal);
    } catch (error) {
      this.groupIsGone = systemErrorCode(error) === 'ESRCH';
    }
    return !this.groupIsGone;
  }
}
