import { startEmbeddedPostgres } from '../../src/embedded-postgres.js';

/**
 * A process that owns an embedded database, for tests to start and to kill:
 * `embedded-postgres-process.ts <data directory> [uid]`. Prints one line of JSON: the database once it runs, or the
 * error. Ends itself properly when its standard input is closed.
 */
const [dataDirectory = '', uid] = process.argv.slice(2);
if (uid !== undefined) {
  process.setgroups?.([]);
  process.setgid?.(Number(uid));
  process.setuid?.(Number(uid));
}
try {
  const database = await startEmbeddedPostgres(dataDirectory);
  const { pid, host, adopted, connectionString } = database;
  process.stdout.write(`${JSON.stringify({ pid, host, adopted, connectionString })}\n`);
  process.stdin.resume();
  process.stdin.once('end', () => void database.stop());
} catch (error) {
  process.stdout.write(`${JSON.stringify({ error: error instanceof Error ? error.message : String(error) })}\n`);
  process.exitCode = 1;
}
