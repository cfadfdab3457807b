import path from 'node:path';
import { prepareDataDirectory } from './data-directory.js';
import { closedAncestor, serverAccount } from './embedded-postgres.account.js';
import { findBinaries } from './embedded-postgres.binaries.js';
import { ensureCluster, SUPERUSER } from './embedded-postgres.cluster.js';
import { EmbeddedPostgresError } from './embedded-postgres.error.js';
import { acquireOwnership } from './embedded-postgres.lock.js';
import { stopPostmaster } from './embedded-postgres.process.js';
import { adoptServer, launchServer, type ServerSettings } from './embedded-postgres.server.js';
import { connectionStringOf, removeShortSocketDirectory, socketDirectory } from './embedded-postgres.socket-path.js';

/** A running PostgreSQL that belongs to this process. */
export interface EmbeddedPostgres {
  /** Directory of the unix socket; the only way in. */
  readonly host: string;
  readonly user: string;
  readonly database: string;
  /** The same as one URL, for pg and for psql. */
  readonly connectionString: string;
  readonly pid: number;
  /** True when the server was already running, left by a Warren that was killed. */
  readonly adopted: boolean;
  /** Shuts the server down and gives up the data directory; resolves when the server's process is gone. */
  stop(): Promise<void>;
}

/** From the first step to a server that accepts connections. */
const START_TIMEOUT_MS = 60_000;

/**
 * Starts PostgreSQL on `<dataDirectory>/postgres`, creating both when missing, and owns the data directory until
 * `stop()` or the end of this process. `settings` are PostgreSQL parameters beside Warren's own.
 * Errors: `EmbeddedPostgresError`, in words for the operator; whatever was started by then is stopped.
 */
export async function startEmbeddedPostgres(
  dataDirectory: string,
  settings: ServerSettings = {},
): Promise<EmbeddedPostgres> {
  const deadline = performance.now() + START_TIMEOUT_MS;
  const directory = prepareDataDirectory(dataDirectory);
  const lock = await acquireOwnership(directory);
  const cluster = path.join(directory, 'postgres');
  let server: RunningServer;
  try {
    server = await runServer(directory, cluster, settings, deadline);
  } catch (error) {
    await lock.release();
    throw error;
  }
  const { pid, host, adopted } = server;
  let stopping: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    try {
      await stopPostmaster(pid, cluster);
      removeShortSocketDirectory(host, directory);
    } finally {
      await lock.release();
    }
  };
  return {
    host,
    user: SUPERUSER,
    database: 'postgres',
    connectionString: connectionStringOf(host),
    pid,
    adopted,
    stop: () => (stopping ??= stop()),
  };
}

interface RunningServer {
  readonly pid: number;
  readonly host: string;
  readonly adopted: boolean;
}

async function runServer(
  directory: string,
  cluster: string,
  settings: ServerSettings,
  deadline: number,
): Promise<RunningServer> {
  const adopted = await adoptServer(cluster, deadline);
  if (adopted !== undefined) return { pid: adopted.pid, host: adopted.socketDirectory, adopted: true };
  const account = serverAccount(cluster);
  const closed = account === undefined ? undefined : closedAncestor(cluster, account);
  if (closed !== undefined) {
    throw new EmbeddedPostgresError(
      `PostgreSQL cannot run as root, and the user it runs as instead may not pass through ${closed}. ` +
        `Set WARREN_DATA_DIR to a directory that others may reach (such as /var/lib/warren), or run chmod o+x ${closed}.`,
    );
  }
  const binaries = await findBinaries(account);
  await ensureCluster(cluster, binaries, account, Math.max(1, Math.ceil(deadline - performance.now())));
  const host = socketDirectory(directory, account);
  const logFile = path.join(directory, 'postgres.log');
  try {
    const pid = await launchServer({ cluster, socketDirectory: host, logFile, binaries, account, settings, deadline });
    return { pid, host, adopted: false };
  } catch (error) {
    // A Warren killed a moment ago may have left a server that had not yet written its status file.
    const late = await adoptServer(cluster, deadline);
    if (late === undefined) throw error;
    return { pid: late.pid, host: late.socketDirectory, adopted: true };
  }
}
