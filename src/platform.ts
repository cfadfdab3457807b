import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Settings } from './config.js';
import { defaultDataDirectory, prepareDataDirectory } from './data-directory.js';
import { createPool } from './database-pool.js';
import { Database } from './database.js';
import { serverAccount } from './embedded-postgres.account.js';
import { startEmbeddedPostgres, type EmbeddedPostgres } from './embedded-postgres.js';
import { runningEmbeddedPostgres } from './embedded-postgres.running.js';
import { Logger } from './logger.js';
import { migrateToLatest, type Migration } from './migrator.js';
import { OwnSecrets } from './own-secrets.js';
import { keyBytesProblem, keyringProblem } from './keyring-check.js';
import { SealedRepository } from './sealed.repository.js';
import { Keyring, KeyringError, SecretBox, SecretBoxError } from './secret-box.js';
import { loadOrCreateKeyFile } from './secret-key-file.js';
import { ServerSecretsRepository } from './server-secrets.repository.js';
import { ServerSecrets } from './server-secrets.service.js';
import { findSystemAccount } from './system-account.js';

/** What every command of Warren stands on: the database, the keyring and the log. */
export interface Platform {
  settings: Settings;
  database: Database;
  /** A URL for a connection of its own, such as LISTEN. */
  databaseUrl: string;
  secretBox: SecretBox;
  serverSecrets: ServerSecrets;
  ownSecrets: OwnSecrets;
  logger: Logger;
  /** Absent when DATABASE_URL names a server, or another process runs the embedded one. */
  embedded?: EmbeddedPostgres | undefined;
  dataDirectory: string;
  /** Migrations applied by this start. */
  applied: string[];
  close(): Promise<void>;
}

/** PostgreSQL cannot be reached or lets this user not in. */
export class DatabaseUnreachableError extends Error {}

/** The keyring is missing, malformed or not the one the database was sealed with. */
export class WrongKeyError extends Error {}

/** A server needs the embedded database for itself; a command may use that of the server that runs beside it. */
export type EmbeddedUse = 'own' | 'share';

/**
 * Starts or connects to PostgreSQL, brings the schema up to date and proves the keyring, in this order.
 * Errors: `WrongKeyError`; `DatabaseUnreachableError`; those of the embedded database and the migrator, all in words for an operator. Nothing stays
 * behind then.
 */
export async function openPlatform(
  settings: Settings,
  migrations: readonly Migration[],
  use: EmbeddedUse = 'own',
): Promise<Platform> {
  const dataDirectory = settings.WARREN_DATA_DIR ?? defaultDataDirectory();
  const { text: keyringText, exposedFile } = await readKeyring(settings, dataDirectory);
  const keyring = parseKeyring(keyringText);
  const { DATABASE_URL, WARREN_ADMIN_KEY } = settings;
  const ownSecrets = OwnSecrets.of({ keyring: keyringText, databaseUrl: DATABASE_URL, adminKey: WARREN_ADMIN_KEY });
  const logger = new Logger(settings.LOG_LEVEL, ownSecrets);
  if (exposedFile !== undefined) {
    logger.warn({ file: exposedFile }, 'other users may read the key file; take that away with chmod 600');
  }
  for (const warning of ownSecrets.warnings) logger.warn({}, warning);
  const secretBox = await SecretBox.create(keyring);
  const { databaseUrl, embedded } = await openDatabase(settings, dataDirectory, use);
  let closing = false;
  const pool = createPool({
    connectionString: databaseUrl,
    max: settings.WARREN_DB_CONNECTIONS,
    applicationName: 'warren',
    onConnectionError: (error) => {
      // the embedded server ends with connections still saying goodbye
      if (!closing) logger.warn({ error }, 'a database connection was lost');
    },
  });
  const database = new Database(pool, settings.WARREN_DB_POOLER !== 'transaction');
  const close = async (): Promise<void> => {
    closing = true;
    await database.close();
    await embedded?.stop();
  };
  try {
    await proveDatabase(database);
    // before the schema is touched: a start with the wrong keyring changes nothing
    const sealed = new SealedRepository(database);
    const missing = await keyringProblem(sealed, secretBox);
    if (missing !== undefined) throw new WrongKeyError(missing);
    const serverSecrets = new ServerSecrets(new ServerSecretsRepository(database), secretBox);
    await proveKeyring(() => serverSecrets.proveKeyring());
    const other = await keyBytesProblem(sealed, secretBox);
    if (other !== undefined) throw new WrongKeyError(other);
    const { applied } = await migrateToLatest(pool, migrations);
    ownSecrets.learnKey(await proveKeyring(() => serverSecrets.tokenHmacKey()));
    return {
      settings,
      database,
      databaseUrl,
      secretBox,
      serverSecrets,
      ownSecrets,
      logger,
      embedded,
      dataDirectory,
      applied,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function openDatabase(
  { DATABASE_URL, WARREN_STDIO_USER }: Settings,
  dataDirectory: string,
  use: EmbeddedUse,
): Promise<{ databaseUrl: string; embedded?: EmbeddedPostgres }> {
  if (DATABASE_URL !== undefined) return { databaseUrl: DATABASE_URL };
  const running = use === 'share' ? await runningEmbeddedPostgres(dataDirectory) : undefined;
  if (running !== undefined) return { databaseUrl: running };
  refuseDatabaseAccount(WARREN_STDIO_USER, dataDirectory);
  const embedded = await startEmbeddedPostgres(dataDirectory);
  return { databaseUrl: embedded.connectionString, embedded };
}

/** Providers that run as the database's own user would be masters of it, and could give themselves any key and grant. */
function refuseDatabaseAccount(stdioUser: string | undefined, dataDirectory: string): void {
  const account = serverAccount(join(dataDirectory, 'postgres'));
  if (stdioUser === undefined || account === undefined || findSystemAccount(stdioUser)?.uid !== account.uid) return;
  throw new Error(
    `WARREN_STDIO_USER names ${stdioUser}, the user that the embedded database runs as: providers could change all of it. ` +
      'Name a user that nothing else runs as.',
  );
}

async function proveDatabase({ pool }: Database): Promise<void> {
  try {
    const client = await pool.connect();
    client.release();
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    throw new DatabaseUnreachableError(
      `The database cannot be reached: ${said}. Check DATABASE_URL and that PostgreSQL runs.`,
      {
        cause: error,
      },
    );
  }
}

interface KeyringSource {
  text: string;
  /** Warren's own key file, when others than its user may access it. */
  exposedFile?: string;
}

/** From the environment, from the file it names, or, with the embedded database, from the data directory. */
async function readKeyring(settings: Settings, dataDirectory: string): Promise<KeyringSource> {
  if (settings.WARREN_SECRET_KEYS !== undefined) return { text: settings.WARREN_SECRET_KEYS };
  const { WARREN_SECRET_KEYS_FILE: file } = settings;
  if (file !== undefined) {
    const text = await readFile(file, 'utf8').catch((error: unknown) => {
      throw new WrongKeyError(`The keyring file of WARREN_SECRET_KEYS_FILE cannot be read.`, { cause: error });
    });
    return { text };
  }
  if (settings.DATABASE_URL !== undefined) {
    throw new WrongKeyError(
      'With DATABASE_URL set, Warren needs a keyring: set WARREN_SECRET_KEYS or WARREN_SECRET_KEYS_FILE ' +
        '(`warren secrets new-key` prints an entry).',
    );
  }
  const directory = prepareDataDirectory(dataDirectory);
  const keyFile = join(directory, 'secret.key');
  // made before the database is, so a database without it was sealed with a key that is now elsewhere
  if (existsSync(join(directory, 'postgres')) && !existsSync(keyFile)) {
    throw new WrongKeyError(
      `The keyring of this database is missing: put ${keyFile} back, or set WARREN_SECRET_KEYS. Nothing was changed.`,
    );
  }
  const { text, exposed } = await loadOrCreateKeyFile(keyFile);
  return exposed ? { text, exposedFile: keyFile } : { text };
}

function parseKeyring(text: string): Keyring {
  try {
    return Keyring.parse(text);
  } catch (error) {
    if (error instanceof KeyringError)
      throw new WrongKeyError(`The keyring is not right: ${error.message}.`, { cause: error });
    throw error;
  }
}

async function proveKeyring<T>(open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    if (!(error instanceof SecretBoxError)) throw error;
    throw new WrongKeyError(
      'The keyring is not the one this database was sealed with: put the right key back. Nothing was changed.',
      { cause: error },
    );
  }
}
