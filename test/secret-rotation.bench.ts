import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { ConnectionSecretsRepository } from '../src/connections/connection-secrets.repository.js';
import { ConnectionSecrets } from '../src/connections/connection-secrets.service.js';
import { Database } from '../src/database.js';
import { Keyring, SecretBox } from '../src/secret-box.js';
import { SealedRepository } from '../src/sealed.repository.js';
import { sealedTables } from '../src/sealed-tables.js';
import { replaceConnections } from './support/bare-connections.js';
import type { TestDatabase } from './support/test-database.js';
import { WarrenCommand } from './support/warren-command.js';

export const OLD_KEY = `old:${randomBytes(32).toString('base64')}`;
export const NEW_KEY = `new:${randomBytes(32).toString('base64')}`;
const PER_CONNECTION = 100;

/** Connections with a hundred secrets each, sealed under the old key, and what they are. */
export class RotationBench {
  /** By connection, in the order of their names. */
  readonly model = new Map<string, string[]>();
  readonly pool: pg.Pool;
  private readonly database: Database;
  private readonly sealed: SealedRepository;

  private constructor(
    private readonly testDatabase: TestDatabase,
    private readonly both: SecretBox,
  ) {
    this.pool = testDatabase.pool('rotation');
    this.database = new Database(this.pool);
    this.sealed = new SealedRepository(this.database);
  }

  static async open(testDatabase: TestDatabase, connections: number): Promise<RotationBench> {
    const bench = new RotationBench(testDatabase, await SecretBox.create(Keyring.parse(`${NEW_KEY},${OLD_KEY}`)));
    await bench.fill(connections, await SecretBox.create(Keyring.parse(OLD_KEY)));
    return bench;
  }

  /** The `warren` command on this database. */
  command(keyring: string, ...args: string[]): WarrenCommand {
    const { connectionString } = this.testDatabase;
    return new WarrenCommand(args, { environment: { DATABASE_URL: connectionString, WARREN_SECRET_KEYS: keyring } });
  }

  /** Secrets under the old key. */
  async left(): Promise<number> {
    const counts = await this.sealed.count(sealedTables);
    return counts.filter(({ keyId }) => keyId === 'old').reduce((sum, { count }) => sum + count, 0);
  }

  /** The secrets of a connection as a server that holds both keys reads them. */
  async read(id: string): Promise<string[]> {
    const opened = await new ConnectionSecrets(new ConnectionSecretsRepository(this.database), this.both).open(id);
    return opened?.secrets.map(({ value }) => value) ?? [];
  }

  /** Gives one secret a new value, as a server whose current key is the new one does. */
  async change(id: string, position: number): Promise<void> {
    const value = randomBytes(12).toString('hex');
    await this.save(this.both, id, [[position, value]]);
    const values = this.model.get(id);
    if (values !== undefined) values[position] = value;
  }

  private async fill(connections: number, box: SecretBox): Promise<void> {
    const ids = Array.from({ length: connections }, (_, index) => `c${index}`);
    await replaceConnections(this.pool, ids);
    for (const id of ids) {
      const values = Array.from({ length: PER_CONNECTION }, () => randomBytes(12).toString('hex'));
      this.model.set(id, values);
      await this.save(box, id, [...values.entries()]);
    }
  }

  private save(box: SecretBox, id: string, values: readonly [number, string][]): Promise<void> {
    const secrets = new ConnectionSecrets(new ConnectionSecretsRepository(this.database), box);
    const set = values.map(([position, value]) => ({
      kind: 'environment' as const,
      name: `V${position}`,
      position,
      value,
    }));
    return this.database.transaction((transaction) => secrets.apply(transaction, id, { keep: [], remove: [], set }));
  }
}
