import { mkdtemp, rm, writeFile, chmod } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrations } from '../dist/migrations/index.js';
import { dumpSchema } from '../dist/src/database-dump.js';
import { createPool } from '../dist/src/database-pool.js';
import { startEmbeddedPostgres } from '../dist/src/embedded-postgres.js';
import { migrateToLatest } from '../dist/src/migrator.js';

const directory = await mkdtemp(join(tmpdir(), 'warren-schema-'));
await chmod(directory, 0o711);
const server = await startEmbeddedPostgres(directory);
try {
  const pool = createPool({ connectionString: server.connectionString, max: 3, applicationName: 'schema dump' });
  await migrateToLatest(pool, migrations);
  await writeFile('migrations/schema.sql', await dumpSchema(pool));
  await pool.end();
} finally {
  await server.stop();
  await rm(directory, { recursive: true, force: true });
}
