import { Inject, Injectable } from '@nestjs/common';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CHILD_MARKER } from '../../child-marker.js';
import type { Settings } from '../../config.js';
import { ProblemError } from '../../errors.js';
import { Instance } from '../../instance.js';
import { SETTINGS } from '../../settings.token.js';
import { Slots } from '../../slots.js';
import { Subprocess } from '../../subprocess.js';
import { systemErrorCode } from '../../system-error.js';
import { findSystemAccount, type SystemAccount } from '../../system-account.js';
import type { ConnectionLaunch, StdioLaunch } from '../connection.launch.js';
import { checkStdioPolicy } from '../stdio-policy.js';
import { PRIVATE_DIRECTORY_PREFIX } from './private-directories.js';
import { SessionError } from './session-error.js';

/** Starts provider processes within the bound of this server and knows each one that lives. */
@Injectable()
export class ProviderProcesses {
  /** Asked when a process has to wait for a slot: whoever holds one for nobody may end. */
  makeRoom: () => void = () => undefined;
  private readonly slots: Slots;
  private readonly account: SystemAccount | undefined;
  private readonly living = new Map<Subprocess, { connectionId: string; gone: Promise<void> }>();

  /** Errors: a plain Error at start when `WARREN_STDIO_USER` cannot be honoured. */
  constructor(
    @Inject(SETTINGS) private readonly settings: Settings,
    private readonly instance: Instance,
  ) {
    this.slots = new Slots(settings.WARREN_MAX_PROCESSES);
    this.account = settings.WARREN_STDIO_USER === undefined ? undefined : requireAccount(settings.WARREN_STDIO_USER);
  }

  /**
   * Launches a provider; waits for a free slot until the signal aborts. The policy is asked again: it may have changed
   * since the connection was saved. Errors: `LaunchError`; `SessionError` busy or unreachable.
   */
  async launch(
    { id: connectionId, redactor }: Pick<ConnectionLaunch, 'id' | 'redactor'>,
    launch: StdioLaunch,
    signal: AbortSignal,
  ): Promise<Subprocess> {
    this.askPolicy(launch);
    if (this.slots.isFull) this.makeRoom();
    const release = await this.slots.take(connectionId, signal).catch((error: unknown) => {
      throw new SessionError('busy', 'All process slots of this server are in use.', { cause: error });
    });
    let privateDirectory: string | undefined;
    const cleanUp = async (): Promise<void> => {
      release();
      // one that cannot be removed is swept at a later start
      if (privateDirectory !== undefined) await removeDirectory(privateDirectory);
    };
    try {
      if (launch.cwd === null) privateDirectory = await this.makePrivateDirectory();
      const child = await Subprocess.launch({
        command: launch.command,
        args: launch.args,
        environment: {
          PATH: this.settings.PATH,
          ...launch.environment,
          [CHILD_MARKER]: this.instance.nextChildMarker(),
        },
        workingDirectory: launch.cwd ?? privateDirectory ?? '/',
        searchPath: this.settings.PATH,
        account: this.account,
        redactor,
      });
      const gone = child.ended.then(() => {
        this.living.delete(child);
        return cleanUp();
      });
      this.living.set(child, { connectionId, gone });
      return child;
    } catch (error) {
      await cleanUp();
      throw error;
    }
  }

  /** Living processes of a connection. */
  of(connectionId: string): { pid: number; since: string }[] {
    return [...this.living]
      .filter(([, owner]) => owner.connectionId === connectionId)
      .map(([child]) => ({ pid: child.pid, since: child.startedAt.toISOString() }));
  }

  /** How many each connection has that has any. */
  countsByConnection(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { connectionId } of this.living.values()) counts.set(connectionId, (counts.get(connectionId) ?? 0) + 1);
    return counts;
  }

  /** Whether some wait for a free slot. */
  get areAwaited(): boolean {
    return this.slots.queued > 0;
  }

  get count(): number {
    return this.living.size;
  }

  /** Ends every process and waits until nothing of them is left, their working directories included. */
  async stopAll(): Promise<void> {
    const ending = [...this.living].map(async ([child, { gone }]) => {
      await child.stop();
      await gone;
    });
    await Promise.all(ending);
  }

  /** For when there is no time left to stop them in order. */
  async killAll(): Promise<void> {
    await Promise.all([...this.living.keys()].map((child) => child.kill()));
  }

  private askPolicy({ command, args, environment }: StdioLaunch): void {
    const { WARREN_STDIO: mode, WARREN_STDIO_COMMANDS: commands } = this.settings;
    try {
      checkStdioPolicy({ mode, commands }, { command, args, environmentNames: Object.keys(environment) });
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error;
      throw new SessionError('unreachable', error.detail, { reason: 'executable_not_permitted', cause: error });
    }
  }

  private async makePrivateDirectory(): Promise<string> {
    let directory: string | undefined;
    try {
      directory = await mkdtemp(join(tmpdir(), `${PRIVATE_DIRECTORY_PREFIX}${this.instance.owner}-`));
      if (this.account !== undefined) await chown(directory, this.account.uid, this.account.gid);
      return directory;
    } catch (error) {
      if (directory !== undefined) await removeDirectory(directory);
      const code = systemErrorCode(error) ?? 'no code';
      throw new SessionError('unreachable', `No working directory could be made for the provider (${code}).`, {
        reason: 'unknown',
        cause: error,
      });
    }
  }
}

async function removeDirectory(directory: string): Promise<void> {
  await rm(directory, { recursive: true, force: true }).catch(() => undefined);
}

function requireAccount(name: string): SystemAccount {
  const account = findSystemAccount(name);
  if (account === undefined) throw new Error(`WARREN_STDIO_USER names ${name}, which is no user of this system`);
  if (process.getuid?.() !== 0 && process.getuid?.() !== account.uid) {
    throw new Error('WARREN_STDIO_USER needs Warren to run as root: only root may start processes as another user');
  }
  return account;
}
