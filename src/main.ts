import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { migrations } from '../migrations/index.js';
import type { Settings } from './config.js';
import { CredentialsService } from './credentials.service.js';
import { createApplication, listen } from './app.js';
import { OpenRequests } from './open-requests.js';
import { openPlatform, type Platform } from './platform.js';
import { LegacyEventsImport } from './connections/legacy-events.import.js';
import { removeOrphanedDirectories } from './connections/session/private-directories.js';
import { SessionRecorder } from './connections/session-recorder.js';
import { SessionManager } from './connections/session/session-manager.js';
import { endOrphanedProviders } from './connections/session/orphan-sweep.js';
import { Readiness } from './readiness.js';
import { InFlightCalls } from './runtime/in-flight-calls.js';
import { SafeFetch } from './safe-fetch.js';
import { systemErrorCode } from './system-error.js';

/**
 * How long calls in flight may take to finish once the server was told to stop, milliseconds: with all that follows, the
 * process is gone within 30 s.
 */
const DRAIN_MS = 23_000;
/** How long the answers to cancelled calls may take to leave, milliseconds. */
const LAST_ANSWERS_MS = 1_000;
/** How long the rooms may take to end their sessions after that, milliseconds: a stop ladder takes 1.6 s. */
const CLOSE_MS = 4_000;

export interface RunningServer {
  url: string;
  application: NestFastifyApplication;
  platform: Platform;
  /**
   * Readiness falls, admitted calls finish (for at most 23 s, or until `hurry` resolves), those that do not are
   * cancelled and answered, and everything this process started ends.
   */
  stop(hurry?: Promise<void>): Promise<void>;
}

/** Starts everything. Errors: in words for an operator; nothing stays behind then. */
export async function startServer(settings: Settings): Promise<RunningServer> {
  const platform = await openPlatform(settings, migrations);
  let application: NestFastifyApplication | undefined;
  try {
    const ended = await endOrphanedProviders();
    if (ended > 0) platform.logger.warn({ ended }, 'provider processes of a Warren that was killed were ended');
    await removeOrphanedDirectories();
    application = await createApplication(platform);
    const revoked = await application.get(CredentialsService).adoptAdminKey(settings.WARREN_ADMIN_KEY);
    if (revoked > 0) platform.logger.warn({ revoked }, 'keys that WARREN_ADMIN_KEY named before were revoked');
    const { WARREN_LEGACY_EVENTS_FILE: legacyEvents } = settings;
    if (legacyEvents !== undefined) await application.get(LegacyEventsImport).run(legacyEvents);
    const requests = new OpenRequests(application.getHttpServer());
    const url = await listen(application, platform).catch((error: unknown) => {
      throw listenError(error, settings);
    });
    warnOfWildcard(platform);
    platform.logger.info({ url, database: platform.embedded === undefined ? 'external' : 'embedded' }, 'Warren serves');
    return { url, application, platform, stop: stopper(application, platform, requests) };
  } catch (error) {
    await application?.close().catch(() => undefined);
    await platform.close();
    throw error;
  }
}

function stopper(
  application: NestFastifyApplication,
  platform: Platform,
  requests: OpenRequests,
): RunningServer['stop'] {
  let stopping: Promise<void> | undefined;
  const run = async (hurry: Promise<void> | undefined): Promise<void> => {
    // who asks is still told that this process is not ready, until the last call is answered
    application.get(Readiness).drain();
    const answered = requests.none();
    await within(DRAIN_MS, hurry === undefined ? answered : Promise.race([answered, hurry]));
    application.get(InFlightCalls).cancelAll('The server is shutting down.');
    const closed = application.close().catch((error: unknown) => {
      platform.logger.error({ error }, 'the application did not close cleanly');
    });
    await within(LAST_ANSWERS_MS, answered);
    requests.cutConnections();
    // no provider outlives this process, whatever else may keep the application from closing
    const inOrder = await within(CLOSE_MS, Promise.all([closed, application.get(SessionManager).endAll()]));
    if (!inOrder) {
      platform.logger.warn({}, 'something kept the server from closing; the process ends without it');
      await within(LAST_ANSWERS_MS, application.get(SessionManager).killProcesses());
    }
    await application.get(SafeFetch).close();
    await application.get(SessionRecorder).flush();
    await platform.close();
    platform.logger.info({}, 'Warren stopped');
  };
  return (hurry) => (stopping ??= run(hurry));
}

/** Waits, but no longer than this, milliseconds; whether it was done by then. */
async function within(milliseconds: number, done: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const bound = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), milliseconds);
  });
  const inTime = await Promise.race([done.then(() => true), bound]);
  clearTimeout(timer);
  return inTime;
}

/** Why the server cannot listen, in words. */
function listenError(error: unknown, { HOST, PORT }: Settings): unknown {
  const code = systemErrorCode(error);
  const words: Record<string, string> = {
    EADDRINUSE: `${HOST}:${PORT} is in use by another program. Set PORT to a free port, or to 0 for any.`,
    EACCES: `This user may not listen on port ${PORT}. Set PORT to one above 1023.`,
    EADDRNOTAVAIL: `${HOST} is no address of this machine. Set HOST to one that is.`,
    ENOTFOUND: `${HOST} is no address of this machine. Set HOST to one that is.`,
  };
  const said = code === undefined ? undefined : words[code];
  return said === undefined ? error : new Error(said, { cause: error });
}

function warnOfWildcard({ settings, logger }: Platform): void {
  const wildcard = settings.HOST === '0.0.0.0' || settings.HOST === '::';
  if (wildcard && settings.WARREN_ALLOWED_HOSTS.length === 0) {
    logger.warn(
      { HOST: settings.HOST },
      'listening on all addresses, but only loopback host names are allowed; set WARREN_ALLOWED_HOSTS',
    );
  }
}
