import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ServerAccount } from './embedded-postgres.account.js';
import type { PostgresBinaries } from './embedded-postgres.binaries.js';
import { POSTGRES_ENVIRONMENT } from './embedded-postgres.cluster.js';
import { EmbeddedPostgresError } from './embedded-postgres.error.js';
import {
  disownRecycledPid,
  isPostmaster,
  readPostmasterStatus,
  stopPostmaster,
  type PostmasterStatus,
} from './embedded-postgres.process.js';
import { SOCKET_NAME } from './embedded-postgres.socket-path.js';

/** PostgreSQL configuration parameters by name. */
export type ServerSettings = Readonly<Record<string, string>>;

const SETTINGS: ServerSettings = {
  listen_addresses: '',
  unix_socket_permissions: '0700',
  max_connections: '100',
  shared_buffers: '64MB',
  // Statements and their failures belong to Warren's own log; here they would only grow a file and hold values.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_checkpoints: 'off',
};

const POLL_MILLIS = 10;

/** A log longer than this is put aside at the next start, replacing the one put aside before. */
const MAX_LOG_BYTES = 1_048_576;

/** How much of the log's end an error carries. */
const LOG_TAIL_CHARACTERS = 2_000;

/**
 * A server of this cluster that a killed Warren left behind, ready for use; undefined when there is none. One that is
 * starting or stopping is waited for; one that lost its socket is of no use and is stopped.
 */
export async function adoptServer(cluster: string, deadline: number): Promise<PostmasterStatus | undefined> {
  for (;;) {
    const status = readPostmasterStatus(cluster);
    if (status === undefined || !isPostmaster(status.pid, cluster)) return undefined;
    if (status.ready && existsSync(path.join(status.socketDirectory, SOCKET_NAME))) return status;
    if (status.ready || performance.now() > deadline) {
      await stopPostmaster(status.pid, cluster);
      return undefined;
    }
    await delay(POLL_MILLIS);
  }
}

export interface LaunchOptions {
  readonly cluster: string;
  readonly socketDirectory: string;
  readonly logFile: string;
  readonly binaries: PostgresBinaries;
  readonly account: ServerAccount | undefined;
  readonly settings: ServerSettings;
  /** On the clock of `performance.now()`. */
  readonly deadline: number;
}

/**
 * Starts the server and resolves with its process id once it accepts connections.
 * Errors: `EmbeddedPostgresError` with the log's end when it ends early or misses the deadline.
 */
export async function launchServer(options: LaunchOptions): Promise<number> {
  const { cluster, socketDirectory, logFile, binaries, account } = options;
  disownRecycledPid(cluster);
  rotateLog(logFile);
  const settings = Object.entries({ ...SETTINGS, ...options.settings }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ]);
  const log = openSync(logFile, 'a', 0o600);
  const server = spawn(binaries.postgres, ['-D', cluster, '-k', socketDirectory, ...settings], {
    ...account,
    cwd: '/',
    env: POSTGRES_ENVIRONMENT,
    // Out of the terminal's process group: Ctrl-C must not stop the database before Warren has drained.
    detached: true,
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  server.unref();
  let ended: string | undefined;
  server.once('error', (error) => (ended = error.message));
  server.once('exit', (code, signal) => (ended = signal === null ? `exit code ${code}` : `signal ${signal}`));
  for (;;) {
    const status = readPostmasterStatus(cluster);
    if (server.pid !== undefined && status?.pid === server.pid && status.ready) return server.pid;
    if (ended !== undefined) throw startError(`it ended with ${ended}`, logFile);
    if (performance.now() > options.deadline) {
      if (server.pid !== undefined) await stopPostmaster(server.pid, cluster);
      throw startError('it was not ready in time', logFile);
    }
    await delay(POLL_MILLIS);
  }
}

function startError(reason: string, logFile: string): EmbeddedPostgresError {
  const tail = readFileSync(logFile, 'utf8').slice(-LOG_TAIL_CHARACTERS).trim();
  return new EmbeddedPostgresError(`The embedded database did not start: ${reason}. The end of ${logFile}:\n${tail}`);
}

function rotateLog(logFile: string): void {
  if (!existsSync(logFile) || statSync(logFile).size <= MAX_LOG_BYTES) return;
  rmSync(`${logFile}.1`, { force: true });
  renameSync(logFile, `${logFile}.1`);
}
